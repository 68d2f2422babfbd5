// Host side of all conversion kernels: what a launch is told.
#pragma once

#include <algorithm>

#include "product/plan/gpu_model.hpp"
#include "residue/convert/strip.cuh"

namespace vernier::cuda {

inline constexpr unsigned blocks_in_turns = 4 * h200_multiprocessors;  // at once

template <class T>
std::int64_t strips_of(const DeviceOperand<T>& operand) {
  return divide_up(operand.x.vectors, convert_vectors);
}

template <int Words>
DigitReductions<Words> digit_reductions(const ConversionForm& form) {
  DigitReductions<Words> reductions{};
  for (int q = 0; q < form.moduli; ++q) reductions.of[q] = digit_reduction<Words>(modulus_of(form.list, q), form.form);
  return reductions;
}

// Blocks side by side share strips; those of each product are a row of the grid.
template <class T>
dim3 conversion_grid(const ConvertTask<T>& task) {
  return dim3(static_cast<unsigned>((task.strips[0] + task.strips[1]) * task.parts),
              static_cast<unsigned>(task.products));
}

// The grid of a kernel whose blocks take turns: small behind a gate that is mostly closed, which costs the start of its
// blocks.
template <class T>
dim3 grid_in_turns(ConvertTask<T>& task, bool seldom) {
  dim3 grid = conversion_grid(task);
  task.blocks = static_cast<int>(grid.x);
  if (task.gate.word != nullptr && seldom) grid.x = std::min(grid.x, blocks_in_turns);
  return grid;
}

// What is asked for; parts and chunk are the launch's own.
template <class T>
struct Conversion {
  const DeviceOperand<T>&a, &b;
  bool measure = false;
  ScalingRule rule{};
  const ConversionForm& form;
  Regularity regularity{};
  Gate gate{};

  ScaleChooser chooser_of(const DeviceOperand<T>& x) const {
    ScalingRule own = rule;
    own.twice_norm_bits_16 += x.norm_share_32;
    return {own, x.x.k};
  }

  ConvertTask<T> task() const {
    return {.operand = {a, b},
            .strips = {static_cast<int>(strips_of(a)), static_cast<int>(strips_of(b))},
            .products = form.products,
            .pitch = device_pitch(a.x.k),
            .parts = 1,
            .blocks = 0,
            .chunk = 0,
            .measure = measure,
            .deep = form.deep,
            .chooser = {chooser_of(a), chooser_of(b)},
            .judge = ScaleChooser(regularity.by_own_rule ? regularity.rule : rule, a.x.k),
            .regularity = regularity,
            .moduli = form.moduli,
            .gate = gate,
            .beside_previous = form.beside_previous};
  }
};

// By kernels of compute capability 8.0, which later GPUs run too.
template <class T>
void convert_without_clusters(const Conversion<T>& conversion, cudaStream_t stream);

}  // namespace vernier::cuda
