// Operands -> residues: scaled, rounded to integers, reduced modulo every modulus, and written where the engines read
// them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/panel.hpp"
#include "product/operand.hpp"
#include "residue/residues.hpp"

namespace vernier {

// One strip of 32 vectors and one step of 64 k, as double, zero where the operand ends and where it is not finite.
//   rows:    tile[l * 32 + vector]       columns: tile[vector * 64 + l]
inline constexpr std::size_t tile_elements = static_cast<std::size_t>(strip_size) * step_size;

// The residues of one strip: an operand of at most 32 vectors, whose k are all steps of the layout.
//   scales: of the strip's 32 vectors;  planes: modulus q at planes + q * plane_bytes, laid out as layout says
//   factor: what elements are multiplied by, rounded, before. One limb takes others than 1, and the planes mean nothing
//   where scales or elements then leave the normal range of double
struct DecomposeTask {
  const int* scales = nullptr;
  double factor = 1;
  std::int8_t* planes = nullptr;
  std::size_t plane_bytes = 0;
  PanelLayout layout;
  std::int64_t strip = 0;   // in the layout
  FilledSteps filled = {};  // those that are written
  bool has_nonfinite = false;
  bool cached = false;  // planes that the caches hold until they are read; others are written past them
  // The strip of as many k that the same thread converts next, where its 32 vectors lie along memory: fetched on the
  // way. Null: none.
  const std::byte* next = nullptr;
  std::int64_t next_stride = 0;  // bytes from one vector to the next
};

template <class T>
void decompose_portable(const Operand<T>& strip, const DigitTables& tables, const DecomposeTask& task);

// Residues of sums of the terms' integers, up to three strips with one scale. Of two terms, both below 2^61 in the
// leading limb; of three, all of one sign and without a bit in common.
void decompose_sum_portable(const Operand<double>* terms, int count, const DigitTables& tables,
                            const DecomposeTask& task);

// A strip of complex vectors, whose parts have one scale.
template <class T>
struct ComplexStrip {
  Operand<T> real, imaginary;
};

// The residues of the integers x of the real and y of the imaginary parts, and of x + y: planes of y start part_bytes
// after those of x, and those of the sums part_bytes further.
template <class T>
void decompose_complex_portable(const ComplexStrip<T>& strip, const DigitTables& tables, const DecomposeTask& task,
                                std::size_t part_bytes);

}  // namespace vernier
