#include "residue/partial/finish.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "product/exact/combined_sum.hpp"
#include "product/exact/entry.hpp"
#include "product/exact/exact_sum.hpp"
#include "product/update.hpp"
#include "residue/gemm.hpp"

namespace vernier {
namespace {

// Some 32 x 32 entries of the part.
template <class T>
class FinishedTile {
 public:
  using R = RealType<T>;
  static constexpr int parts = parts_of_type<T>;

  FinishedTile(const Finish<T>& finish, std::int64_t i, std::int64_t j)
      : f_(finish),
        i_(i),
        j_(j),
        rows_(std::min<std::int64_t>(strip_size, finish.c.row_count - i)),
        columns_(std::min<std::int64_t>(strip_size, finish.c.column_count - j)) {}

  void run() {
    for (std::size_t pass = 0; pass < f_.passes.size(); ++pass) {
      if (!f_.exact) recombine(pass);
      for (std::int64_t j = 0; j < columns_; ++j)
        for (std::int64_t i = 0; i < rows_; ++i)
          if (f_.passes.size() == 1 || is_ordinary(i, j) == f_.passes[pass].ordinary) write(pass, i, j);
    }
  }

 private:
  std::size_t row(std::int64_t i) const { return static_cast<std::size_t>(f_.c.rows[i_ + i]); }
  std::size_t column(std::int64_t j) const { return static_cast<std::size_t>(f_.c.columns[j_ + j]); }
  bool is_ordinary(std::int64_t i, std::int64_t j) const {
    return entry_is_ordinary(f_.row_proofs[row(i)], f_.column_proofs[column(j)]);
  }
  const std::byte* element(std::size_t pass, std::int64_t i, std::int64_t j) const {
    const std::int64_t at = i_ + i + (j_ + j) * f_.ld;
    return f_.elements[pass] + f_.passes[pass].layout.bytes() * static_cast<std::size_t>(at);
  }

  // T of all entries of a pass.
  void recombine(std::size_t pass) {
    const PassData& data = f_.passes[pass];
    const auto count = static_cast<std::size_t>(data.layout.moduli);
    alignas(64) std::int8_t planes[max_moduli * block_elements];
    int row_scales[strip_size] = {}, column_scales[strip_size] = {};
    for (std::int64_t i = 0; i < rows_; ++i) row_scales[i] = data.scales_of(Side::left)[row(i)];
    for (std::int64_t j = 0; j < columns_; ++j) column_scales[j] = data.scales_of(Side::right)[column(j)];
    std::fill(planes, planes + count * block_elements, std::int8_t{0});
    for (int p = 0; p < parts; ++p) {
      for (std::int64_t j = 0; j < columns_; ++j)
        for (std::int64_t i = 0; i < rows_; ++i) {
          const auto* from =
              reinterpret_cast<const std::int8_t*>(element(pass, i, j)) + static_cast<std::size_t>(p) * count;
          std::int8_t* to = planes + residue_index(static_cast<int>(i), static_cast<int>(j));
          for (std::size_t q = 0; q < count; ++q) to[q * block_elements] = from[q];
        }
      backend_of<R>(*data.engine).recombine(*data.tables, planes, block_elements, row_scales, column_scales, tile_[p]);
    }
  }

  void write(std::size_t pass, std::int64_t i, std::int64_t j) const {
    const std::byte* from = element(pass, i, j);
    const PassData& data = f_.passes[pass];
    R t[parts];
    const auto* classes = reinterpret_cast<const std::uint8_t*>(from) + data.layout.class_offset();
    T& c = f_.c.X[i_ + i + (j_ + j) * f_.c.ldx];
    if (f_.exact) {
      R* c_parts = reinterpret_cast<R*>(&c);
      for (int p = 0; p < parts; ++p) c_parts[p] = exact(data, from, p, classes[p], i, j, c_parts + p);
      return;
    }
    for (int p = 0; p < parts; ++p) t[p] = classes[p] != 0 ? special(classes[p]) : tile_[p][j * strip_size + i];
    if constexpr (parts == 2)
      c = updated(f_.alpha, T(t[0], t[1]), f_.beta, c);
    else
      c = updated(f_.alpha, t[0], f_.beta, c);
  }

  static R special(std::uint8_t sum) {
    constexpr R infinity = std::numeric_limits<R>::infinity();
    if (class_is_nan(sum)) return std::numeric_limits<R>::quiet_NaN();
    return (sum & class_plus) != 0 ? infinity : -infinity;
  }

  static R real_part(const T& x) {
    if constexpr (parts == 2)
      return x.real();
    else
      return x;
  }

  R exact(const PassData& data, const std::byte* from, int part, std::uint8_t sum_class, std::int64_t i, std::int64_t j,
          const R* c) const {
    const R alpha = real_part(f_.alpha), beta = real_part(f_.beta);
    if (sum_class != 0) return combined_special(special(sum_class), alpha, beta, c);
    if (data.layout.moduli == 0) return exact_of_digits(data.layout, from, part, alpha, beta, c);
    const auto* residues = reinterpret_cast<const std::int8_t*>(from) + part * data.layout.moduli;
    const SignedInteger x = recombine_entry(*data.tables, residues, 1);
    const int exponent = -(data.scales_of(Side::left)[row(i)] + data.scales_of(Side::right)[column(j)]);
    constexpr int bracket_bits = 124;
    if (x.magnitude.bit_width() <= bracket_bits) {
      const auto magnitude = static_cast<Int128>(static_cast<Uint128>(x.magnitude.limb[1]) << 64 | x.magnitude.limb[0]);
      if (const auto result =
              combined(Bracket{x.negative ? -magnitude : magnitude, 0, exponent}, alpha, beta, c, f_.rounding))
        return *result;
    }
    LongAccumulator sum;
    sum.add(x.negative, x.magnitude.limb, exponent);
    return combined_sum(sum, alpha, beta, c, f_.rounding);
  }

  R exact_of_digits(const ElementLayout& layout, const std::byte* from, int part, R alpha, R beta, const R* c) const {
    const auto* words = reinterpret_cast<const std::int64_t*>(from) + part * layout.digits;
    std::array<std::int64_t, most_digits> digits;
    std::copy_n(words, layout.digits, digits.begin());
    std::array<std::int64_t, result_digits> result;
    return rounded_digits(
        DigitRange{layout.lowest, layout.digits},
        [&](int d) -> std::int64_t& { return digits[static_cast<std::size_t>(d)]; }, alpha, beta, c,
        [&](int d) -> std::int64_t& { return result[static_cast<std::size_t>(d)]; }, f_.rounding);
  }

  const Finish<T>& f_;
  std::int64_t i_, j_, rows_, columns_;
  alignas(64) R tile_[parts][block_elements];
};

}  // namespace

template <class T>
void finish_part(const Finish<T>& finish) {
  const std::int64_t row_strips = divide_up(finish.c.row_count, strip_size);
  const std::int64_t tiles = row_strips * divide_up(finish.c.column_count, strip_size);
#pragma omp parallel for schedule(dynamic, 4) num_threads(finish.passes.front().threads)
  for (std::int64_t t = 0; t < tiles; ++t) {
    const FloatingEnvironment environment;
    FinishedTile<T>(finish, t % row_strips * strip_size, t / row_strips * strip_size).run();
  }
}

template <class T>
void scale_part(T beta, const MatrixPart<T>& c, Rounding rounding) {
  if (beta == T{1}) return;
  const FloatingEnvironment environment;
  for (std::int64_t j = 0; j < c.column_count; ++j)
    for (std::int64_t i = 0; i < c.row_count; ++i) {
      T& entry = c.X[i + j * c.ldx];
      entry = beta == T{0} ? T{0} : scaled_entry(beta, entry, rounding);
    }
}

VERNIER_TYPE_INSTANCES(finish_part, scale_part)

}  // namespace vernier
