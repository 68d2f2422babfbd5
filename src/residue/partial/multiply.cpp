// Products of elements: residues go to an engine's planes and come back; what NaN and infinities bring is found beside.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/workspace.hpp"
#include "residue/partial/element_parts.hpp"
#include "residue/partial/pass_data.hpp"
#include "residue/plan/blocking.hpp"

namespace vernier {
namespace {

constexpr std::int64_t longest_step = 4096;       // of k: bounds the planes
constexpr std::int64_t column_chunk = 8;          // strips of B whose products are in memory together
constexpr std::int64_t row_strips_at_a_time = 8;  // of A, for a thread

struct Planes {
  std::int8_t* data = nullptr;
  std::size_t stride = 0;
  PanelLayout layout;
};

class ElementRun {
 public:
  ElementRun(const PassData& pass, const ElementProduct& product, std::int64_t k_begin, std::int64_t k_count)
      : pass_(pass),
        product_(product),
        k_begin_(k_begin),
        k_count_(k_count),
        planes_(planes_of(pass)),
        sums_(pass.layout) {
    Arena count;
    carve(count);
    memory_.emplace(count.used());
    Arena arena = memory_->arena();
    carve(arena);
  }

  void run() {
    const std::int64_t column_strips = b_.layout.strips;
#pragma omp parallel num_threads(pass_.threads)
    {
      pass_.engine->enter_thread();
      unpack(product_.a, product_.m, true, a_);
      unpack(product_.b, product_.n, false, b_);
#pragma omp barrier
      for (std::int64_t t = 0; t < column_strips; t += column_chunk) {
        const std::int64_t strips = std::min(column_chunk, column_strips - t);
        multiply(t, strips);
        accumulate(t, strips);
      }
      pass_.engine->leave_thread();
    }
  }

 private:
  static int planes_of(const PassData& pass) { return real_products(pass.layout.parts) * pass.layout.moduli; }

  void carve(Arena& arena) {
    const auto planes = static_cast<std::size_t>(planes_);
    for (auto [side, vectors] : {std::pair{&a_, product_.m}, std::pair{&b_, product_.n}}) {
      side->layout = panel_layout(vectors, k_count_);
      side->stride = plane_stride(side->layout.bytes());
      side->data = arena.take<std::int8_t>(planes * side->stride);
    }
    c_stride_ = plane_stride(a_.layout.strips * column_chunk * block_elements);
    c_ = arena.take<std::int8_t>(planes * c_stride_);
    scratch_stride_ = static_cast<std::size_t>(round_up(static_cast<std::int64_t>(pass_.engine->scratch_bytes()),
                                                        static_cast<std::int64_t>(Arena::alignment)));
    scratch_ = arena.take<std::byte>(scratch_stride_ * static_cast<std::size_t>(pass_.threads));
  }

  void unpack(const ElementView<const std::byte>& x, std::int64_t vectors, bool rows, const Planes& planes) const {
    const std::int64_t steps = planes.layout.steps;
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t item = 0; item < planes.layout.strips * steps; ++item) {
      const std::int64_t strip = item / steps, step = item % steps;
      std::int8_t* to = planes.data + planes.layout.offset(strip, step);
      for (int b = 0; b < step_size; ++b) {
        const std::int64_t l = step * step_size + k_of_byte(b);
        for (int v = 0; v < strip_size; ++v) {
          const std::int64_t vector = strip * strip_size + v;
          std::int8_t* at = to + (rows ? row_byte(v, b) : column_byte(v, b));
          unpack_element(vector < vectors && l < k_count_ ? x.at(vector, k_begin_ + l) : nullptr, at, planes.stride);
        }
      }
    }
  }

  void unpack_element(const std::byte* element, std::int8_t* to, std::size_t stride) const {
    const auto* from = reinterpret_cast<const std::int8_t*>(element);
    if (from == nullptr) {
      for (int q = 0; q < planes_; ++q) to[static_cast<std::size_t>(q) * stride] = 0;
      return;
    }
    const int count = pass_.layout.moduli;
    for (int product = 0; product < real_products(pass_.layout.parts); ++product)
      for (int q = 0; q < count; ++q, to += stride)
        *to = static_cast<std::int8_t>(factor_residue(from, count, q, moduli[static_cast<std::size_t>(q)], product));
  }

  void multiply(std::int64_t first, std::int64_t strips) const {
    const PanelLayout &rows = a_.layout, &columns = b_.layout;
    const std::int64_t pieces = divide_up(rows.strips, row_strips_at_a_time);
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t item = 0; item < planes_ * pieces; ++item) {
      const auto plane = static_cast<std::size_t>(item / pieces);
      const std::int64_t row = item % pieces * row_strips_at_a_time;
      for (std::int64_t slice = 0; slice < rows.slices(); ++slice)
        pass_.engine->multiply(
            {.columns = b_.data + plane * b_.stride + columns.offset(first, slice * columns.slice_steps),
             .column_strips = strips,
             .rows = a_.data + plane * a_.stride + rows.offset(row, slice * rows.slice_steps),
             .row_strips = std::min(row_strips_at_a_time, rows.strips - row),
             .steps = rows.steps_of(slice),
             .modulus = moduli[plane % static_cast<std::size_t>(pass_.layout.moduli)],
             .accumulate = slice > 0,
             .out = c_ + plane * c_stride_ + row * block_elements,
             .out_strips = rows.strips,
             .scratch = scratch_ + scratch_stride_ * static_cast<std::size_t>(omp_get_thread_num())});
    }
  }

  // A column of a strip of rows becomes elements first, which are then added as they lie.
  void accumulate(std::int64_t first, std::int64_t strips) const {
    const std::int64_t end = std::min((first + strips) * strip_size, product_.n);
    const std::size_t bytes = product_.a.bytes;
    std::array<std::int8_t, strip_size * ResidueSums::most_bytes> elements{};
#pragma omp for schedule(static)
    for (std::int64_t j = first * strip_size; j < end; ++j)
      for (std::int64_t i = 0; i < product_.m; i += strip_size) {
        const std::int64_t block = (j / strip_size - first) * a_.layout.strips + i / strip_size;
        const int within = residue_index(0, static_cast<int>(j % strip_size));
        make_elements(c_ + block * block_elements + within, bytes, elements.data());
        sums_.add(std::min<std::int64_t>(strip_size, product_.m - i), elements.data(),
                  reinterpret_cast<std::int8_t*>(product_.c) + static_cast<std::size_t>(i + j * product_.ldc) * bytes);
      }
  }

  void make_elements(const std::int8_t* products, std::size_t bytes, std::int8_t* elements) const {
    const auto count = static_cast<std::size_t>(pass_.layout.moduli);
    const std::size_t part = count * c_stride_;
    for (std::size_t q = 0; q < count; ++q, products += c_stride_)
      for (int v = 0; v < strip_size; ++v) {
        const std::int8_t* from = products + residue_index(v, 0);
        std::int8_t* to = elements + static_cast<std::size_t>(v) * bytes + q;
        if (pass_.layout.parts == 1) {
          *to = *from;
        } else {
          const ProductResidues r = complex_residues(from[0], from[part], from[2 * part], moduli[q]);
          to[0] = static_cast<std::int8_t>(r.real);
          to[count] = static_cast<std::int8_t>(r.imaginary);
        }
      }
  }

  const PassData& pass_;
  const ElementProduct& product_;
  const std::int64_t k_begin_, k_count_;
  const int planes_;
  const ResidueSums sums_;
  std::optional<Workspace> memory_;
  Planes a_, b_;
  std::int8_t* c_ = nullptr;
  std::size_t c_stride_ = 0, scratch_stride_ = 0;
  std::byte* scratch_ = nullptr;
};

bool is_special(const ElementLayout& layout, const std::uint8_t* classes) {
  return ((classes[0] | (layout.parts == 2 ? classes[1] : 0)) & class_special) != 0;
}

}  // namespace

void multiply_residues(const PassData& pass, const ElementProduct& product) {
  const std::int64_t block = std::min(pass.engine->longest_k(), longest_step);
  for (std::int64_t l = 0; l < product.k; l += block)
    ElementRun(pass, product, l, std::min(block, product.k - l)).run();
}

void multiply_classes(const PassData& pass, const ElementProduct& p) {
  const ElementLayout& layout = pass.layout;
  const std::size_t bytes = layout.bytes(), offset = layout.class_offset();
  const auto of = [&](const ElementView<const std::byte>& x, std::int64_t v, std::int64_t l) {
    return reinterpret_cast<const std::uint8_t*>(x.at(v, l)) + offset;
  };
  const auto sum = [&](std::int64_t i, std::int64_t j) {
    return reinterpret_cast<std::uint8_t*>(p.c) + static_cast<std::size_t>(i + j * p.ldc) * bytes + offset;
  };
  for (std::int64_t l = 0; l < p.k; ++l) {
    for (std::int64_t i = 0; i < p.m; ++i)
      if (is_special(layout, of(p.a, i, l)))
        for (std::int64_t j = 0; j < p.n; ++j)
          add_class_products(layout.parts, of(p.a, i, l), of(p.b, j, l), sum(i, j));
    for (std::int64_t j = 0; j < p.n; ++j)
      if (is_special(layout, of(p.b, j, l)))
        for (std::int64_t i = 0; i < p.m; ++i)
          add_class_products(layout.parts, of(p.a, i, l), of(p.b, j, l), sum(i, j));
  }
}

void add_elements(const PassData& pass, std::int64_t count, const std::byte* from, std::byte* to) {
  const ElementLayout& layout = pass.layout;
  if (layout.moduli > 0)
    ResidueSums(layout).add(count, reinterpret_cast<const std::int8_t*>(from), reinterpret_cast<std::int8_t*>(to));
  for (std::int64_t e = 0; e < count; ++e, from += layout.bytes(), to += layout.bytes()) {
    auto* words = reinterpret_cast<std::int64_t*>(to);
    for (int d = 0; d < layout.parts * layout.digits; ++d) words[d] += reinterpret_cast<const std::int64_t*>(from)[d];
    for (std::size_t p = layout.class_offset(); p < layout.bytes(); ++p) to[p] |= from[p];
  }
}

ResidueSums::ResidueSums(const ElementLayout& layout) : bytes_(layout.bytes()) {
  largest_.fill(INT8_MAX), smallest_.fill(INT8_MIN);
  for (std::size_t r = 0; r < layout.class_offset(); ++r) {
    const int p = moduli[r % static_cast<std::size_t>(layout.moduli)];
    modulus_[r] = static_cast<std::int16_t>(p);
    largest_[r] = static_cast<std::int16_t>(largest_residue(p));
    smallest_[r] = static_cast<std::int16_t>(smallest_residue(p));
    mask_[r] = -1;
  }
}

void ResidueSums::add(std::int64_t elements, const std::int8_t* from, std::int8_t* to) const {
  for (std::int64_t e = 0; e < elements; ++e, from += bytes_, to += bytes_)
    for (std::size_t first = 0; first < bytes_; first += lanes)
      for (std::size_t r = first; r < first + lanes; ++r) {
        auto x = static_cast<std::int16_t>(to[r] + (from[r] & mask_[r]));
        x = static_cast<std::int16_t>(x - (x > largest_[r] ? modulus_[r] : 0));
        x = static_cast<std::int16_t>(x + (x < smallest_[r] ? modulus_[r] : 0));
        to[r] = static_cast<std::int8_t>(x);
      }
}

}  // namespace vernier
