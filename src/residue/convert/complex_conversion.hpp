// Complex operands -> statistics, and the planes of their real parts, imaginary parts and sums, strip by strip.
#pragma once

#include <algorithm>
#include <complex>

#include "residue/pass_state.hpp"

namespace vernier {

// Of all vectors of an operand.
struct ComplexVectors {
  VectorStatistics* statistics = nullptr;
  VectorProof* scales = nullptr;
  int* exponents = nullptr;  // padded to strips with zeros
};

template <class R>
struct ComplexSide {
  Operand<std::complex<R>> x;
  bool conjugated;
  const DigitTables& digits;
  ComplexVectors vectors;
  std::int8_t* planes;  // of the block at hand
  std::size_t plane_bytes, part_bytes;
  bool cached;  // as in DecomposeTask
};

// Elements between the vectors of a gathered strip, so that they do not fall into the same cache sets.
inline constexpr std::int64_t vector_padding = 8;

template <class R>
void split_parts(const std::complex<R>* z, std::int64_t count, bool conjugated, R* real, R* imaginary) {
  const R sign = conjugated ? R{-1} : R{1};
  for (std::int64_t i = 0; i < count; ++i) {
    real[i] = z[i].real();
    imaginary[i] = sign * z[i].imag();
  }
}

// Up to 32 vectors as 2k real numbers each: real parts, then imaginary parts. buffer: 32 (2k + vector_padding)
// elements.
template <class R>
Operand<R> gather_parts(const Operand<std::complex<R>>& x, bool conjugated, std::int64_t first, R* buffer) {
  const std::int64_t k = x.k, count = std::min<std::int64_t>(strip_size, x.vectors - first);
  if (x.k_contiguous) {
    const std::int64_t ld = 2 * k + vector_padding;
    for (std::int64_t v = 0; v < count; ++v)
      split_parts(x.at(first + v, 0), k, conjugated, buffer + v * ld, buffer + v * ld + k);
    return {buffer, count, 2 * k, ld, true};
  }
  constexpr std::int64_t ahead = 12;  // each k may lie in another page: the hardware does not see it coming
  constexpr auto line = static_cast<std::int64_t>(64 / sizeof(std::complex<R>));
  for (std::int64_t l = 0; l < k; ++l) {
    if (l + ahead < k)
      for (std::int64_t i = 0; i < count; i += line) __builtin_prefetch(x.at(first + i, l + ahead));
    R *real = buffer + l * strip_size, *imaginary = buffer + (k + l) * strip_size;
    split_parts(x.at(first, l), count, conjugated, real, imaginary);
    std::fill(real + count, real + strip_size, R{0});
    std::fill(imaginary + count, imaginary + strip_size, R{0});
  }
  return {buffer, count, 2 * k, strip_size, false};
}

enum class StripWork { measure, convert, both };

// Work-shared over the strips of some vectors; no barrier at the end. Measured are statistics and ordinary scales.
template <class R>
void convert_complex_strips(const ComplexSide<R>& side, const SchemeBackend<R>& backend, const ScalingRule& rule,
                            Range vectors, StripWork work, R* buffer) {
  const std::int64_t k = side.x.k;
  const PanelLayout layout = panel_layout(vectors.count, k);
#pragma omp for schedule(dynamic, 1) nowait
  for (std::int64_t index = 0; index < divide_up(vectors.count, strip_size); ++index) {
    const std::int64_t first = vectors.begin + index * strip_size;
    const Operand<R> strip = gather_parts(side.x, side.conjugated, first, buffer);
    VectorStatistics* statistics = side.vectors.statistics + first;
    int* exponents = side.vectors.exponents + first;
    if (work != StripWork::convert) {
      backend.statistics(strip, 0, strip.vectors, statistics);
      for (std::int64_t v = 0; v < strip_size; ++v)
        exponents[v] = v < strip.vectors ? ordinary_scale(rule, strip.k, statistics[v]) : 0;
    }
    if (work == StripWork::measure) continue;
    const auto half = [&](std::int64_t l) {
      return Operand<R>{strip.at(0, l), strip.vectors, k, strip.ld, strip.k_contiguous};
    };
    backend.decompose_complex({half(0), half(k)}, side.digits,
                              {.scales = exponents,
                               .planes = side.planes,
                               .plane_bytes = side.plane_bytes,
                               .layout = layout,
                               .strip = index,
                               .has_nonfinite = std::any_of(statistics, statistics + strip.vectors,
                                                            [](const VectorStatistics& v) { return v.nonfinite; }),
                               .cached = side.cached},
                              side.part_bytes);
  }
}

}  // namespace vernier
