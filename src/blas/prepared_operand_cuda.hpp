// What a prepared operand holds on a GPU, and how it is made.
#pragma once

#include <optional>

#include "blas/choice.hpp"
#include "cuda/device.hpp"
#include "engine/int8_engine_cuda.hpp"
#include "product/device_memory.hpp"
#include "residue/convert/convert.hpp"
#include "residue/convert/winograd.hpp"
#include "residue/plan/plan_cuda.hpp"
#include "vernier/prepared.hpp"

namespace vernier::cuda {

template <class T>
struct PreparedData : PreparedFacts {
  PreparedData(Side side, Op op, std::int64_t rows, std::int64_t columns, const T* X, std::int64_t ldx,
               const Options& options);
  // Of an operand that stays where it is, with memory of the library's pool, for products on that stream alone.
  PreparedData(Side side, const Operand<T>& x, const Options& options);
  ~PreparedData() {
    const CaptureTolerance tolerance;  // else memory could not be given back while a graph is captured
    memory_ = {};
  }

  Operand<T> copy;  // rows of op(X), or columns, or what stays where it is; everything below is of all its vectors
  ScalingRule rule;
  bool by_sqrt_rule = false;  // rule is sqrt_rule()
  ConversionForm form;
  std::int64_t k_block = 0;
  VectorStatistics* statistics = nullptr;
  int* scales = nullptr;
  RegularityState regularity{};  // this operand's part in it, and the same on the device:
  RegularityState* device_regularity = nullptr;

  // Residues of the block of k that begins there.
  std::uint8_t* planes(std::int64_t k_begin) const {
    return planes_ + static_cast<std::size_t>(k_begin / k_block) * plane_bytes(copy.vectors);
  }
  // Of all moduli, for that many vectors and a block of k.
  std::size_t plane_bytes(std::int64_t vectors) const {
    return static_cast<std::size_t>(form.moduli * (strassen ? winograd_products : 1)) *
           static_cast<std::size_t>(plane_vectors(vectors, strassen)) *
           static_cast<std::size_t>(plane_pitch(k_block, strassen));
  }

 private:
  void choose(const DeviceInt8Engine& engine, int strassen_levels);
  T* carve(Arena& arena, std::size_t copied);  // room for so many elements, and for what is made of them
  void own_copy(Op op, const T* X, std::int64_t ldx, cudaStream_t stream);
  void make_planes(cudaStream_t stream);
  void summarise(cudaStream_t stream);

  DeviceBuffer<std::byte> memory_;
  std::optional<DeviceWorkspace> pooled_;  // in its place
  std::uint8_t* planes_ = nullptr;
};

// Calls work(a, b) with one operand on its side, and beside it one of no vectors.
template <class T, class Work>
void with_operand(Side side, const DeviceOperand<T>& x, Work work) {
  const DeviceOperand<T> nothing{{.k = x.x.k, .ld = 1}, nullptr, nullptr, x.planes};
  side == Side::left ? work(x, nothing) : work(nothing, x);
}

// Residues of one operand and one block of k, with scales that are there.
template <class T>
void decompose(Side side, const DeviceOperand<T>& x, const ConversionForm& form, bool strassen, cudaStream_t stream);

}  // namespace vernier::cuda
