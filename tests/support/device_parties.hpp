// A distributed product by two parties with their data in device memory, beside gemm of one process. Memory says what
// that memory is: upload(bytes of the host), download, and it frees all at its end.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "number/complex.hpp"
#include "support/random.hpp"
#include "vernier/distributed.hpp"

namespace vernier::test {

struct DeviceCase {
  std::int64_t m, n, k;
  const char* contract;
  Op opa = Op::none, opb = Op::none;
  int reach = 3;         // of exponents
  int first_row = 0;     // of op(A) alone: so many more exponents, up and down
  bool special = false;  // infinities and a NaN
  bool words = true;     // sums travel as words
  double alpha = 1, beta = 0;
};

// The first party has the even k, and its sums and C are in device memory; so has the second the odd ones.
template <class T, class Memory>
class DeviceParties {
 public:
  explicit DeviceParties(const DeviceCase& x, std::uint64_t seed)
      : x_(x),
        random_(seed),
        a_(matrix(rows(x.opa, x.m, x.k), rows(x.opa, x.k, x.m))),
        b_(matrix(rows(x.opb, x.k, x.n), rows(x.opb, x.n, x.k))),
        c_(matrix(x.m, x.n)),
        options_{.contract = Contract::parse(x.contract), .threads = 1},
        first_(x.opa, x.opb, x.m, x.n, x.k, options_, DeviceMemory{}),
        second_(x.opa, x.opb, x.m, x.n, x.k, options_, DeviceMemory{}) {
    for (std::int64_t l = 0; l < x.k; ++l)
      a_[static_cast<std::size_t>(x.opa == Op::none ? l * x.m : l)] *=
          std::ldexp(RealType<T>{1}, static_cast<int>(random_.integer(-x.first_row, x.first_row)));
    if (x.special) {
      a_[3] = std::numeric_limits<RealType<T>>::infinity();
      b_[1] = std::numeric_limits<RealType<T>>::quiet_NaN();
      b_.back() = -std::numeric_limits<RealType<T>>::infinity();
    }
    for (std::int64_t i = 0; i < std::max(x.m, x.n); ++i) all_.push_back(i);
    for (std::int64_t l = 0; l < x.k; ++l) (l % 2 == 0 ? even_ : odd_).push_back(l);
  }

  // How many entries differ in a bit; NaN equals NaN.
  std::int64_t different() {
    std::vector<T> expected = c_;
    const T alpha(static_cast<RealType<T>>(x_.alpha)), beta(static_cast<RealType<T>>(x_.beta));
    gemm<T>(x_.opa, x_.opb, x_.m, x_.n, x_.k, alpha, a_.data(), rows(x_.opa, x_.m, x_.k), b_.data(),
            rows(x_.opb, x_.k, x_.n), beta, expected.data(), x_.m, options_);
    scan();
    std::vector<const std::byte*> sums;
    for (int pass = 0; pass < first_.passes(); ++pass) sums.push_back(sum(pass));
    std::byte* const c = memory_.upload(c_.data(), sizeof(T) * c_.size());
    first_.finish(sums.data(), x_.m + 2, alpha, beta,
                  {reinterpret_cast<T*>(c), x_.m, all_.data(), x_.m, all_.data(), x_.n});
    std::vector<T> got(c_.size());
    memory_.download(got.data(), c, sizeof(T) * got.size());
    const auto *p = reinterpret_cast<const RealType<T>*>(got.data()),
               *q = reinterpret_cast<const RealType<T>*>(expected.data());
    std::int64_t count = 0;
    for (std::size_t i = 0; i < got.size() * sizeof(T) / sizeof(*p); ++i)
      count += !((p[i] != p[i] && q[i] != q[i]) || std::memcmp(p + i, q + i, sizeof(*p)) == 0);
    return count;
  }

  int passes() const { return first_.passes(); }
  int moduli(int pass) const { return first_.moduli(pass); }

 private:
  static std::int64_t rows(Op op, std::int64_t plain, std::int64_t turned) { return op == Op::none ? plain : turned; }

  RealType<T> number() {
    return std::ldexp(static_cast<RealType<T>>(2 * random_.uniform() - 1),
                      static_cast<int>(random_.integer(-x_.reach, x_.reach)));
  }
  std::vector<T> matrix(std::int64_t rows, std::int64_t columns) {
    std::vector<T> x(static_cast<std::size_t>(rows * columns));
    for (T& e : x) {
      if constexpr (is_complex<T>) {
        const RealType<T> real = number();
        e = {real, number()};
      } else {
        e = number();
      }
    }
    return x;
  }

  // Those k of an operand, side by side in device memory.
  MatrixPart<const T> part(Side side, const std::vector<std::int64_t>& ks) {
    const bool left = side == Side::left, rows_are_k = left == ((left ? x_.opa : x_.opb) != Op::none);
    const std::int64_t vectors = left ? x_.m : x_.n, ld = rows_are_k ? x_.k : vectors;
    const auto count = static_cast<std::int64_t>(ks.size());
    const std::vector<T>& from = left ? a_ : b_;
    std::vector<T> x;
    for (std::int64_t j = 0; j < (rows_are_k ? vectors : count); ++j)
      for (std::int64_t i = 0; i < (rows_are_k ? count : vectors); ++i) {
        const std::int64_t row = rows_are_k ? ks[static_cast<std::size_t>(i)] : i,
                           column = rows_are_k ? j : ks[static_cast<std::size_t>(j)];
        x.push_back(from[static_cast<std::size_t>(row + column * ld)]);
      }
    const auto* data = reinterpret_cast<const T*>(memory_.upload(x.data(), sizeof(T) * x.size()));
    if (rows_are_k) return {data, count, ks.data(), count, all_.data(), vectors};
    return {data, vectors, all_.data(), vectors, ks.data(), count};
  }

  void scan() {
    const MatrixPart<const T> parts[2][2] = {{part(Side::left, even_), part(Side::right, even_)},
                                             {part(Side::left, odd_), part(Side::right, odd_)}};
    std::copy(&parts[0][0], &parts[0][0] + 4, &parts_[0][0]);
    while (first_.scanning()) {
      for (const auto& [party, part] : {std::pair{&first_, parts[0]}, {&second_, parts[1]}})
        party->scan(Side::left, part[0]), party->scan(Side::right, part[1]);
      const auto maxima = first_.maxima(), others = second_.maxima(), sums = first_.sums(), other_sums = second_.sums();
      for (std::size_t i = 0; i < maxima.size(); ++i) others[i] = maxima[i] = std::max(maxima[i], others[i]);
      for (std::size_t i = 0; i < sums.size(); ++i) other_sums[i] = sums[i] += other_sums[i];
      first_.combine(), second_.combine();
    }
  }

  // Elements of both parties' sum, columns m + 2 apart.
  const std::byte* sum(int pass) {
    const std::size_t bytes = first_.element_bytes(pass);
    const std::int64_t ld = x_.m + 2, count = ld * x_.n;
    const std::vector<std::byte> zeros(bytes * static_cast<std::size_t>(count));
    std::byte* const own = memory_.upload(zeros.data(), zeros.size());
    std::byte* const other = memory_.upload(zeros.data(), zeros.size());
    first_.partial(pass, parts_[0][0], parts_[0][1], own, ld);
    second_.partial(pass, parts_[1][0], parts_[1][1], other, ld);
    if (!x_.words) {
      first_.add(pass, count, other, own);
      return own;
    }
    std::vector<std::int64_t> words[2];
    for (const auto& [party, elements, mine] : {std::tuple{&first_, own, &words[0]}, {&second_, other, &words[1]}}) {
      mine->resize(first_.words(pass) * static_cast<std::size_t>(count));
      const std::size_t size = sizeof(std::int64_t) * mine->size();
      std::byte* const place = memory_.upload(mine->data(), size);
      party->to_words(pass, count, elements, reinterpret_cast<std::int64_t*>(place));
      memory_.download(mine->data(), place, size);
    }
    for (std::size_t w = 0; w < words[0].size(); ++w) words[0][w] += words[1][w];
    std::byte* const place = memory_.upload(words[0].data(), sizeof(std::int64_t) * words[0].size());
    first_.from_words(pass, count, reinterpret_cast<const std::int64_t*>(place), own);
    return own;
  }

  DeviceCase x_;
  Random random_;
  std::vector<T> a_, b_, c_;
  Options options_;
  DistributedProduct<T> first_, second_;
  std::vector<std::int64_t> all_, even_, odd_;
  MatrixPart<const T> parts_[2][2];
  Memory memory_;
};

}  // namespace vernier::test
