// Products of complex interval matrices against rational arithmetic, and how wide they are beside the sets they
// enclose.
#include <gmpxx.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "lapack/verified/upward.hpp"
#include "support/exact.hpp"
#include "support/random.hpp"
#include "vernier/verified.hpp"

namespace vernier::test::complex_interval_test {
namespace {

using Complex = std::complex<double>;
using Matrix = std::vector<Complex>;
constexpr std::int64_t m = 5, n = 4, k = 9;

std::size_t at(std::int64_t i, std::int64_t j, std::int64_t ld) { return static_cast<std::size_t>(i + j * ld); }

Matrix scattered(std::int64_t count, Random& r) {
  Matrix x(static_cast<std::size_t>(count));
  for (Complex& e : x) e = {r.scattered(0.5), r.scattered(0.5)};
  return x;
}

struct Range {
  mpq_class low = 0, high = 0;

  // + or - the products of two real intervals
  void add(double al, double ah, double bl, double bh, bool negative) {
    const mpq_class p[4] = {mpq_class(al) * bl, mpq_class(al) * bh, mpq_class(ah) * bl, mpq_class(ah) * bh};
    const mpq_class least = *std::min_element(p, p + 4), most = *std::max_element(p, p + 4);
    low += negative ? mpq_class(-most) : least, high += negative ? mpq_class(-least) : most;
  }
};

void expect_range(const Range& exact, double low, double high) {
  EXPECT_LE(mpq_class(low), exact.low);
  EXPECT_GE(mpq_class(high), exact.high);
  const double best = mpq_class(exact.high - exact.low).get_d(), unit = std::fmax(std::fabs(low), std::fabs(high));
  EXPECT_LE(high - low, 2 * best + 4 * unit * 0x1p-52);
}

TEST(ComplexIntervalProducts, EncloseTheRangesOfRealAndImaginaryParts) {
  Random r(21);
  for (const double width : {0.0, 1e-12, 1e-2, 1.0}) {
    const Matrix al = scattered(m * k, r), bl = scattered(k * n, r);
    Matrix ah = al, bh = bl, low(m * n), high(m * n);
    for (Matrix* x : {&ah, &bh})
      for (Complex& e : *x) e += Complex(width * r.uniform(), width * r.uniform());
    interval_gemm_ends(Op::none, Op::none, m, n, k, al.data(), ah.data(), m, bl.data(), bh.data(), k, low.data(),
                       high.data(), m);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        Range re, im;
        for (std::int64_t l = 0; l < k; ++l) {
          const Complex a[2] = {al[at(i, l, m)], ah[at(i, l, m)]}, b[2] = {bl[at(l, j, k)], bh[at(l, j, k)]};
          re.add(a[0].real(), a[1].real(), b[0].real(), b[1].real(), false);
          re.add(a[0].imag(), a[1].imag(), b[0].imag(), b[1].imag(), true);
          im.add(a[0].real(), a[1].real(), b[0].imag(), b[1].imag(), false);
          im.add(a[0].imag(), a[1].imag(), b[0].real(), b[1].real(), false);
        }
        expect_range(re, low[at(i, j, m)].real(), high[at(i, j, m)].real());
        expect_range(im, low[at(i, j, m)].imag(), high[at(i, j, m)].imag());
      }
  }
}

struct Discs {
  Matrix mid;
  std::vector<double> rad;
};

Discs discs(std::int64_t count, double width, Random& r) {
  Discs x{scattered(count, r), {}};
  for (std::int64_t e = 0; e < count; ++e) x.rad.push_back(width * (1 + r.uniform()));
  return x;
}

// How far the products of discs reach from their centres' product in a direction.
double reach(Complex a, double ra, Complex b, double rb, double direction) {
  constexpr int steps = 90;
  double most = 0;
  for (int s = 0; s < steps; ++s) {
    const Complex turn = std::polar(ra, 2 * M_PI * s / steps);
    most = std::max(most, std::real(b * turn * std::polar(1.0, -direction)) + rb * std::abs(a + turn));
  }
  return most;
}

// |sum (a + da)(b + db) - mid| <= rad exactly, da and db on the circles' inside.
void expect_member(const Discs& a, const Discs& b, std::int64_t i, std::int64_t j, Complex mid, double rad,
                   double direction) {
  mpq_class re = -mpq_class(mid.real()), im = -mpq_class(mid.imag());
  for (std::int64_t l = 0; l < k; ++l) {
    const auto member = [&](Complex z, double radius, Complex other) {
      const double phase = direction - std::arg(other);   // where other times this adds to the direction
      return z + std::polar(radius * (1 - 1e-6), phase);  // its rounding leaves it inside of discs from 1e-9 on
    };
    const Complex x = member(a.mid[at(i, l, m)], a.rad[at(i, l, m)], b.mid[at(l, j, k)]),
                  y = member(b.mid[at(l, j, k)], b.rad[at(l, j, k)], a.mid[at(i, l, m)]);
    re += mpq_class(x.real()) * y.real() - mpq_class(x.imag()) * y.imag();
    im += mpq_class(x.real()) * y.imag() + mpq_class(x.imag()) * y.real();
  }
  EXPECT_LE(mpq_class(re * re + im * im), mpq_class(rad) * rad);
}

TEST(ComplexIntervalProducts, OfDiscsHoldTheirMembersAndAreAtMostTwiceAsWide) {
  Random r(22);
  for (const double width : {1e-9, 1e-2, 1.0}) {
    const Discs a = discs(m * k, width, r), b = discs(k * n, width, r);
    Matrix mid(m * n);
    std::vector<double> rad(m * n);
    interval_gemm(Op::none, Op::none, m, n, k, a.mid.data(), a.rad.data(), m, b.mid.data(), b.rad.data(), k, mid.data(),
                  rad.data(), m);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        double widest = 0;
        for (int d = 0; d < 8; ++d) {
          double both = 0;
          for (std::int64_t l = 0; l < k; ++l)
            for (const double side : {0.0, M_PI})
              both += reach(a.mid[at(i, l, m)], a.rad[at(i, l, m)], b.mid[at(l, j, k)], b.rad[at(l, j, k)],
                            M_PI * d / 8 + side);
          widest = std::max(widest, both);
          expect_member(a, b, i, j, mid[at(i, j, m)], rad[at(i, j, m)], M_PI * d / 4);
        }
        EXPECT_LE(2 * rad[at(i, j, m)], 2 * widest);
      }
  }
}

TEST(ComplexIntervalProducts, FollowTheOperations) {
  Random r(23);
  const Discs a = discs(m * k, 0.1, r), b = discs(k * n, 0.1, r);
  Discs turned_a{Matrix(m * k), std::vector<double>(m * k)}, turned_b{Matrix(k * n), std::vector<double>(k * n)};
  for (std::int64_t l = 0; l < k; ++l) {
    for (std::int64_t i = 0; i < m; ++i)
      turned_a.mid[at(l, i, k)] = std::conj(a.mid[at(i, l, m)]), turned_a.rad[at(l, i, k)] = a.rad[at(i, l, m)];
    for (std::int64_t j = 0; j < n; ++j)
      turned_b.mid[at(j, l, n)] = b.mid[at(l, j, k)], turned_b.rad[at(j, l, n)] = b.rad[at(l, j, k)];
  }
  Matrix mid(m * n), turned(m * n), low(m * n), high(m * n), turned_low(m * n), turned_high(m * n);
  std::vector<double> rad(m * n), turned_rad(m * n);
  interval_gemm(Op::none, Op::none, m, n, k, a.mid.data(), a.rad.data(), m, b.mid.data(), b.rad.data(), k, mid.data(),
                rad.data(), m);
  interval_gemm(Op::conjugate_transpose, Op::transpose, m, n, k, turned_a.mid.data(), turned_a.rad.data(), k,
                turned_b.mid.data(), turned_b.rad.data(), n, turned.data(), turned_rad.data(), m);
  EXPECT_EQ(mid, turned);
  EXPECT_EQ(rad, turned_rad);
  interval_gemm_ends(Op::none, Op::none, m, n, k, a.mid.data(), a.mid.data(), m, b.mid.data(), b.mid.data(), k,
                     low.data(), high.data(), m);
  interval_gemm_ends(Op::conjugate_transpose, Op::transpose, m, n, k, turned_a.mid.data(), turned_a.mid.data(), k,
                     turned_b.mid.data(), turned_b.mid.data(), n, turned_low.data(), turned_high.data(), m);
  EXPECT_EQ(low, turned_low);
  EXPECT_EQ(high, turned_high);
  for (std::size_t e = 0; e < mid.size(); ++e) {
    EXPECT_LE(low[e].real(), mid[e].real());
    EXPECT_LE(high[e].imag(), std::nextafter(low[e].imag(), 1e9)) << "matrices without width are rounded twice";
  }
}

TEST(ComplexIntervalProducts, MagnitudesAreAboveAndClose) {
  Random r(24);
  for (int e = 0; e < 1000; ++e) {
    const double x = r.exp_rand(-1070, 1020), y = x * r.scattered(2), size = magnitude_above(x, y);
    const mpq_class square = mpq_class(x) * x + mpq_class(y) * y, found = mpq_class(size) * size,
                    inside = mpq_class(std::nextafter(size, 0.0)) * (1 - 0x1p-49);
    EXPECT_GE(found, square);
    if (size > 0x1p-1000) {
      EXPECT_LE(inside * inside, square);
    }
  }
  EXPECT_EQ(magnitude_above(0, -3), 3);
}

TEST(ComplexIntervalProducts, RefuseWhatIsNoInterval) {
  const Complex one(1, 1), less(1, 0), bad(1, NAN);
  const double negative = -1;
  Complex c(5), d(6);
  double radius = 7;
  EXPECT_THROW(interval_gemm_ends(Op::none, Op::none, 1, 1, 1, &one, &less, 1, &one, &one, 1, &c, &d, 1), Error);
  EXPECT_THROW(interval_gemm(Op::none, Op::none, 1, 1, 1, &one, &negative, 1, &one, nullptr, 1, &c, &radius, 1), Error);
  EXPECT_THROW(interval_gemm(Op::none, Op::none, 1, 1, 1, &bad, nullptr, 1, &one, nullptr, 1, &c, &radius, 1), Error);
  EXPECT_EQ(c, Complex(5));
  EXPECT_EQ(radius, 7);
}

}  // namespace
}  // namespace vernier::test::complex_interval_test
