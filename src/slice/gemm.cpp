// Ozaki scheme I: split, multiply slice by slice, add. Mukunoki, Ozaki, Ogita and Imamura, "DGEMM using tensor cores,
// and its accurate and reproducible versions", ISC 2020.
#include <algorithm>
#include <cmath>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "engine/panel.hpp"
#include "number/ieee754.hpp"
#include "number/long_accumulator.hpp"
#include "product/call.hpp"
#include "product/exact/combined_sum.hpp"
#include "product/exact/entry.hpp"
#include "product/sides.hpp"
#include "product/specials.hpp"
#include "slice/products.hpp"
#include "slice/slices.hpp"
#include "vernier/slices.hpp"

namespace vernier {
namespace {

constexpr std::int64_t usual_block = 256;

// A slice in the engine's format, with what the sum needs of it.
struct StoredSlice {
  EncodedSlice digits;
  std::vector<int> exponents;
  std::vector<bool> zero;  // vector by vector
};

template <class T>
class SliceRun {
 public:
  SliceRun(const Operand<T>& a, const Operand<T>& b, T alpha, T beta, T* c, std::int64_t ldc,
           const SliceOptions& options)
      : operands_{a, b}, alpha_(alpha), beta_(beta), c_(c), ldc_(ldc), options_(options), engine_(options.engine) {
    correctly_rounded_ = options.mode == SliceMode::correctly_rounded;
    block_ = options.block == 0 ? usual_block : options.block;
    k_block_ = options.k_block == 0 ? a.k : std::min(options.k_block, a.k);
    report_.engine = options.engine;
    report_.mode = correctly_rounded_ ? "CR" : sizeof(T) == 4 ? "SP" : "DP";
  }

  SliceReport run() {
    const FloatingEnvironment environment;
    split();
    pairs_ = plan_slice_products({{report_.slices_a, report_.slices_b}, report_.fast, 1, 1}).terms;
    report_.products = static_cast<std::int64_t>(pairs_.size());
    for (std::int64_t i = 0; i < operands_.a.vectors; i += block_)
      for (std::int64_t j = 0; j < operands_.b.vectors; j += block_)
        multiply_block({i, std::min(block_, operands_.a.vectors - i)}, {j, std::min(block_, operands_.b.vectors - j)});
    patch();
    return report_;
  }

 private:
  std::int64_t k() const { return operands_.a.k; }

  void split() {
    const StageTime time(report_.seconds_split);
    report_.bits = engine_.bits(k_block_);
    Sides<SliceSplitter> rest{{operands_.a, report_.bits}, {operands_.b, report_.bits}};
    const Sides<std::vector<double>> weights{rest.a.weights(), rest.b.weights()};
    split_as_asked<T>(
        options_, k(), [&](Side side, int) { return rest[side].empty(); },
        [&](Side side, int) { return rest[side].left_over(weights[other(side)]); },
        [&](Side side, int) { slices_[side].push_back(stored(side, rest[side].next(), operands_[side].vectors)); },
        report_);
  }

  StoredSlice stored(Side side, Slice&& slice, std::int64_t vectors) const {
    StoredSlice result;
    result.digits = engine_.encode(side, slice.digits);
    result.exponents = std::move(slice.exponents);
    for (std::int64_t v = 0; v < vectors; ++v) {
      const auto begin = slice.digits.begin() + v * k();
      result.zero.push_back(std::all_of(begin, begin + k(), [](std::int32_t x) { return x == 0; }));
    }
    return result;
  }

  static bool all_zero(const StoredSlice& slice, Range vectors) {
    const auto begin = slice.zero.begin() + vectors.begin;
    return std::all_of(begin, begin + vectors.count, [](bool zero) { return zero; });
  }

  void multiply_block(Range rows, Range columns) {
    const auto elements = static_cast<std::size_t>(rows.count * columns.count);
    std::vector<double> product(elements);
    std::vector<T> sums(correctly_rounded_ ? 0 : elements);
    std::vector<std::vector<double>> products;  // correctly_rounded: all of them, pair by pair
    std::vector<SliceTerm> owners;
    for (const SliceTerm& pair : pairs_)
      for (std::int64_t l = 0; l < k(); l += k_block_) {
        if (!multiply_pair(pair, rows, columns, {l, std::min(k_block_, k() - l)}, product)) continue;
        const StageTime time(report_.seconds_sum);
        if (correctly_rounded_) {
          products.push_back(product);
          owners.push_back(pair);
        } else {
          add_product(pair, rows, columns, product, sums);
        }
      }
    const StageTime time(report_.seconds_sum);
    if (correctly_rounded_)
      round_block(rows, columns, products, owners);
    else
      update_block(rows, columns, sums);
  }

  // The product over a part of k. False: it is one of zeros, and `out` is as it was.
  bool multiply_pair(const SliceTerm& pair, Range rows, Range columns, Range depth, std::vector<double>& out) {
    const StageTime time(report_.seconds_products);
    const StoredSlice &a = slices_.a[static_cast<std::size_t>(pair.p)],
                      &b = slices_.b[static_cast<std::size_t>(pair.q)];
    if (all_zero(a, rows) || all_zero(b, columns)) {
      ++report_.skipped;
      return false;
    }
    ++report_.multiplied;
    engine_.multiply(
        {rows.count, columns.count, depth.count, &a.digits, &b.digits, k(), rows.begin, columns.begin, depth.begin},
        out.data());
    return true;
  }

  int unit(const SliceTerm& pair, std::int64_t i, std::int64_t j) const {
    return slices_.a[static_cast<std::size_t>(pair.p)].exponents[static_cast<std::size_t>(i)] +
           slices_.b[static_cast<std::size_t>(pair.q)].exponents[static_cast<std::size_t>(j)];
  }

  void add_product(const SliceTerm& pair, Range rows, Range columns, const std::vector<double>& product,
                   std::vector<T>& sums) const {
#pragma omp parallel for
    for (std::int64_t j = 0; j < columns.count; ++j)
      for (std::int64_t i = 0; i < rows.count; ++i) {
        const auto at = static_cast<std::size_t>(i + j * rows.count);
        const DoubleParts p = parts_of(product[at]);
        const int exponent = p.exponent + unit(pair, rows.begin + i, columns.begin + j);
        sums[at] += round_scaled<T>(p.negative, p.significand, exponent);  // one rounding to T, subnormal or not
      }
  }

  T* entry(Range rows, Range columns, std::int64_t i, std::int64_t j) const {
    return c_ + rows.begin + i + (columns.begin + j) * ldc_;
  }

  void update_block(Range rows, Range columns, const std::vector<T>& sums) const {
    for (std::int64_t j = 0; j < columns.count; ++j)
      for (std::int64_t i = 0; i < rows.count; ++i) {
        if (special(rows.begin + i, columns.begin + j)) continue;
        T& c = *entry(rows, columns, i, j);
        const T sum = sums[static_cast<std::size_t>(i + j * rows.count)];
        c = beta_ == 0 ? alpha_ * sum : std::fma(alpha_, sum, beta_ * c);
      }
  }

  // The sum of all products of an entry as one long integer, alpha and beta included.
  void round_block(Range rows, Range columns, const std::vector<std::vector<double>>& products,
                   const std::vector<SliceTerm>& owners) const {
#pragma omp parallel for schedule(dynamic, 1)
    for (std::int64_t j = 0; j < columns.count; ++j)
      for (std::int64_t i = 0; i < rows.count; ++i) {
        if (special(rows.begin + i, columns.begin + j)) continue;
        LongAccumulator sum;
        for (std::size_t g = 0; g < products.size(); ++g) {
          const DoubleParts p = parts_of(products[g][static_cast<std::size_t>(i + j * rows.count)]);
          const int exponent = p.exponent + unit(owners[g], rows.begin + i, columns.begin + j);
          // An integer multiple of the unit: what the significand has below it are zeros.
          const int zeros = std::max(0, -p.exponent);
          if (p.significand != 0) sum.add(p.negative, std::array{p.significand >> zeros}, exponent + zeros);
        }
        T& c = *entry(rows, columns, i, j);
        c = combined_sum(sum, alpha_, beta_, &c);
      }
  }

  bool special(std::int64_t i, std::int64_t j) const {
    return nonfinite_.a[static_cast<std::size_t>(i)].nonfinite || nonfinite_.b[static_cast<std::size_t>(j)].nonfinite;
  }

  // Rows and columns with a NaN or an infinity, tile by tile.
  void patch() const {
    const auto nonfinite = [](const std::vector<VectorStatistics>& v, std::int64_t begin) {
      return std::any_of(v.begin() + begin, v.begin() + begin + strip_size, [](const auto& s) { return s.nonfinite; });
    };
    for (std::int64_t i0 = 0; i0 < operands_.a.vectors; i0 += strip_size)
      for (std::int64_t j0 = 0; j0 < operands_.b.vectors; j0 += strip_size) {
        if (!nonfinite(nonfinite_.a, i0) && !nonfinite(nonfinite_.b, j0)) continue;
        T tile[block_elements] = {};
        patch_specials(operands_.a, operands_.b, i0, j0, nonfinite_.a.data() + i0, nonfinite_.b.data() + j0, tile);
        for (std::int64_t j = j0; j < std::min(j0 + strip_size, operands_.b.vectors); ++j)
          for (std::int64_t i = i0; i < std::min(i0 + strip_size, operands_.a.vectors); ++i) {
            T* c = c_ + i + j * ldc_;
            if (special(i, j)) *c = combined_special(tile[(j - j0) * strip_size + i - i0], alpha_, beta_, c);
          }
      }
  }

  static std::vector<VectorStatistics> nonfinite_vectors(const Operand<T>& x) {
    std::vector<VectorStatistics> flags(static_cast<std::size_t>(round_up(x.vectors, strip_size)));
    for (std::int64_t v = 0; v < x.vectors; ++v)
      for (std::int64_t l = 0; l < x.k && !flags[static_cast<std::size_t>(v)].nonfinite; ++l)
        flags[static_cast<std::size_t>(v)].nonfinite = !std::isfinite(*x.at(v, l));
    return flags;
  }

  const Sides<Operand<T>> operands_;
  T alpha_, beta_;
  T* c_;
  std::int64_t ldc_;
  const SliceOptions& options_;
  SliceEngine engine_;
  bool correctly_rounded_ = false;
  std::int64_t k_block_ = 0, block_ = 0;
  Sides<std::vector<VectorStatistics>> nonfinite_{nonfinite_vectors(operands_.a), nonfinite_vectors(operands_.b)};
  Sides<std::vector<StoredSlice>> slices_;
  std::vector<SliceTerm> pairs_;  // from the smallest weights to the largest
  SliceReport report_;
};

}  // namespace

template <class T>
SliceReport gemm_by_slices(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
                           std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                           const SliceOptions& options) {
  const Clock clock;
  check_call("gemm_by_slices", GemmCall<T>{opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc});
  check_slice_options(options);
  const bool reads = alpha != 0 && k > 0 && m > 0 && n > 0;
  const Operand<T> a{A, m, reads ? k : 0, lda, opa != Op::none}, b{B, n, reads ? k : 0, ldb, opb == Op::none};
  SliceReport report;
  if (reads) {
    report = SliceRun<T>(a, b, alpha, beta, C, ldc, options).run();
  } else {
    report.engine = options.engine;
    for (std::int64_t j = 0; j < (m > 0 ? n : 0); ++j)
      for (std::int64_t i = 0; i < m; ++i) C[i + j * ldc] = beta == 0 ? T{0} : beta * C[i + j * ldc];
  }
  report.seconds = clock.seconds();
  return report;
}

VERNIER_REAL_INSTANCES(gemm_by_slices)

}  // namespace vernier
