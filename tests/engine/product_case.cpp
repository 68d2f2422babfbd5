#include "product_case.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "engine/panel.hpp"
#include "number/moduli.hpp"

namespace vernier::test {
namespace {

constexpr std::size_t guard_bytes = 256;
constexpr std::int8_t guard = 0x5a;
constexpr std::int64_t first_step = 3;

std::size_t size_of(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

}  // namespace

AlignedBytes::AlignedBytes(std::size_t bytes) : memory_(bytes + guard_bytes + 64, guard), size_(bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  data_ = memory_.data() + (64 - address % 64) % 64;
}

bool AlignedBytes::guard_intact() const {
  return std::all_of(data_ + size_, data_ + size_ + guard_bytes, [](std::int8_t byte) { return byte == guard; });
}

ProductCase::ProductCase(const Shape& shape, int modulus, Values values, bool accumulate, bool with_zeros)
    : shape_(shape),
      modulus_(modulus),
      accumulate_(accumulate),
      out_strips_(shape.row_strips + 1),
      row_values_(size_of(shape.row_strips * strip_size * shape.steps * step_size)),
      column_values_(size_of(shape.column_strips * strip_size * shape.steps * step_size)),
      rows_(size_of(shape.row_strips * shape.steps * step_bytes)),
      columns_(size_of(shape.column_strips * shape.steps * step_bytes)),
      old_(size_of(shape.column_strips * out_strips_ * block_elements)),
      expected_(old_.size()),
      out_(old_.size()) {
  fill(values);
  if (with_zeros) set_zeros();
  compute_expected();
}

void ProductCase::fill(Values values) {
  std::mt19937_64 generator(static_cast<std::uint64_t>(modulus_ * 1000 + shape_.steps));
  const int least = smallest_residue(modulus_), most = largest_residue(modulus_);
  std::uniform_int_distribution<int> any(least, most);
  auto value = [&](bool row) {
    switch (values) {
      case Values::smallest:
        return least;
      case Values::largest:
        return most;
      case Values::opposite:
        return row ? most : least;
      case Values::ends:
        return (generator() & 1) != 0 ? most : least;
      case Values::random:
        break;
    }
    return any(generator);
  };
  for (std::int8_t& x : row_values_) x = static_cast<std::int8_t>(value(true));
  for (std::int8_t& x : column_values_) x = static_cast<std::int8_t>(value(false));
  for (std::size_t i = 0; i < old_.size(); ++i) old_.data()[i] = static_cast<std::int8_t>(value(true));

  const std::int64_t k = shape_.steps * step_size;
  const PanelLayout rows{shape_.row_strips, shape_.steps, shape_.steps};
  const PanelLayout columns{shape_.column_strips, shape_.steps, shape_.steps};
  for (std::int64_t s = 0; s < shape_.steps; ++s)
    for (int b = 0; b < step_size; ++b) {
      const std::int64_t l = s * step_size + k_of_byte(b);
      for (std::int64_t i = 0; i < shape_.row_strips * strip_size; ++i)
        rows_.data()[rows.offset(i / strip_size, s) + row_byte(static_cast<int>(i % strip_size), b)] =
            row_values_[size_of(i * k + l)];
      for (std::int64_t j = 0; j < shape_.column_strips * strip_size; ++j)
        columns_.data()[columns.offset(j / strip_size, s) + column_byte(static_cast<int>(j % strip_size), b)] =
            column_values_[size_of(j * k + l)];
    }
}

void ProductCase::set_zeros() {
  std::mt19937 generator(static_cast<std::uint32_t>(shape_.row_strips * 100 + shape_.steps));
  const auto set = [&](std::vector<std::int8_t>& values, std::int64_t strips, std::vector<FilledSteps>& filled) {
    const std::int64_t k = shape_.steps * step_size;
    for (std::int64_t strip = 0; strip < strips; ++strip) {
      const auto any = [&] { return static_cast<std::int64_t>(generator() % size_of(shape_.steps + 1)); };
      const auto [begin, end] = std::minmax({any(), any()});
      for (std::int64_t v = strip * strip_size; v < (strip + 1) * strip_size; ++v) {
        std::fill_n(values.begin() + v * k, begin * step_size, std::int8_t{0});
        std::fill_n(values.begin() + v * k + end * step_size, k - end * step_size, std::int8_t{0});
      }
      const bool ends = end == shape_.steps;  // and beyond
      filled.push_back({begin == 0 ? 0 : first_step + begin, ends ? FilledSteps{}.end : first_step + end});
    }
  };
  set(row_values_, shape_.row_strips, filled_rows_);
  set(column_values_, shape_.column_strips, filled_columns_);
}

void ProductCase::compute_expected() {
  std::memcpy(expected_.data(), old_.data(), old_.size());
  const std::int64_t k = shape_.steps * step_size;
  for (std::int64_t j = 0; j < shape_.column_strips * strip_size; ++j)
    for (std::int64_t i = 0; i < shape_.row_strips * strip_size; ++i) {
      const std::int8_t *row = row_values_.data() + i * k, *column = column_values_.data() + j * k;
      std::int64_t sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += static_cast<std::int64_t>(row[l]) * column[l];
      std::int8_t& element =
          expected_.data()[(j / strip_size * out_strips_ + i / strip_size) * block_elements +
                           residue_index(static_cast<int>(i % strip_size), static_cast<int>(j % strip_size))];
      if (accumulate_) sum += element;
      element = static_cast<std::int8_t>(symmetric_residue(sum, modulus_));
    }
}

void ProductCase::prepare(void* scratch) {
  std::memcpy(out_.data(), old_.data(), old_.size());
  product_ = {.columns = columns_.data(),
              .column_strips = shape_.column_strips,
              .rows = rows_.data(),
              .row_strips = shape_.row_strips,
              .steps = shape_.steps,
              .filled_columns = filled_columns_.empty() ? nullptr : filled_columns_.data(),
              .filled_rows = filled_rows_.empty() ? nullptr : filled_rows_.data(),
              .first_step = first_step,
              .modulus = modulus_,
              .accumulate = accumulate_,
              .out = out_.data(),
              .out_strips = out_strips_,
              .scratch = scratch};
}

std::string ProductCase::judge(const AlignedBytes& scratch) const {
  if (!scratch.guard_intact()) return label() + "wrote behind its scratch memory";
  if (!out_.guard_intact()) return label() + "wrote behind its output";
  for (std::int64_t t = 0; t < shape_.column_strips; ++t)
    for (std::int64_t v = 0; v < out_strips_; ++v)
      for (int j = 0; j < strip_size; ++j)
        for (int i = 0; i < strip_size; ++i) {
          const std::int64_t at = (t * out_strips_ + v) * block_elements + residue_index(i, j);
          const int got = out_.data()[at], expected = expected_.data()[at];
          if (got != expected)
            return label() + "column strip " + std::to_string(t) + ", row strip " + std::to_string(v) + ", element (" +
                   std::to_string(i) + ", " + std::to_string(j) + "): got " + std::to_string(got) + ", expected " +
                   std::to_string(expected);
        }
  return "";
}

std::string ProductCase::label() const {
  return "p = " + std::to_string(modulus_) + ", " + std::to_string(shape_.column_strips) + " column strips, " +
         std::to_string(shape_.row_strips) + " row strips, " + std::to_string(shape_.steps) + " steps" +
         (accumulate_ ? ", accumulating: " : ": ");
}

}  // namespace vernier::test
