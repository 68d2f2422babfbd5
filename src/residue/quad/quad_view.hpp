// Operands of a quadruple product in device memory, and what is known of them there.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "product/operand.hpp"
#include "residue/binary128/split.hpp"
#include "residue/quad/crt_dd.hpp"
#include "residue/quad/left_entries.hpp"
#include "residue/quad/quad_plan.hpp"

namespace vernier::cuda {

// Elements of one double, two or three: parts side by side.
struct QuadView {
  const double* data = nullptr;
  std::int64_t vectors = 0, k = 0, vector_stride = 0, k_stride = 0;  // strides in doubles
  int parts = 1;

  constexpr const double* at(std::int64_t vector, std::int64_t l) const {
    return data + vector * vector_stride + l * k_stride;
  }
  constexpr bool k_contiguous() const { return k_stride == parts; }
};

template <class T>
QuadView view_of(const Operand<T>& x) {
  constexpr int parts = sizeof(T) / sizeof(double);
  return {
      reinterpret_cast<const double*>(x.data), x.vectors, x.k, x.vector_stride() * parts, x.k_stride() * parts, parts};
}

// Vectors of one side. All pointers are to device memory.
struct DeviceQuadSide {
  QuadView x;
  const VectorExponents* exponents = nullptr;  // of binary128: vectors are shifted by them
  QuadVector* vectors = nullptr;
  QuadScale* scales = nullptr;
  DdVector* dd = nullptr;
};

// Maxima over the vectors of A and of B: of QuadExtent's members, as bits; of exponents and 1; whether some vector is
// no vector of integers, has a NaN or an infinity, or is wider than most_span.
struct QuadMaxima {
  unsigned long long norm_2[2], rounded[2], half_norm[2];
  unsigned exponent[2], inexact, special, wide;

  QuadExtents extents() const { return {extent(0), extent(1)}; }

 private:
  QuadExtent extent(int side) const {
    const auto number = [](unsigned long long bits) { return std::bit_cast<double>(bits); };
    return {number(norm_2[side]), number(rounded[side]), number(half_norm[side])};
  }
};

inline constexpr int quad_samples = 6;  // rows and columns
VERNIER_HD constexpr std::int64_t sampled_vector(std::int64_t index, std::int64_t count) {
  return (2 * index + 1) * count / (2 * (count < quad_samples ? count : quad_samples));
}

// What scales are tried for; those of one of them, or of none, are kept.
struct QuadSizes {
  int count = 0, kept = -1;
  QuadSize of[most_expected];
};

struct DeviceQuadFacts {
  QuadMaxima maxima[most_expected];  // of each size
  struct Sample {
    double magnitude, error;
    int exponent, exists;
  } samples[quad_samples * quad_samples];
};

// A block of C = alpha T + beta C in dd. Entries are named i + j m.
struct DeviceDdBlock {
  int moduli = 0;
  const std::int8_t* residues = nullptr;  // product_units(m, n) of each modulus
  std::int64_t m = 0, n = 0;              // m n <= 2^32
  DeviceQuadSide a, b;                    // of the block, all of k
  DdRule rule{};
  double alpha = 1, beta = 0;
  bool only_rounded = true;  // rule has alpha, and beta is 0
  bool binary128 = false;    // C is that, exact or only rounded; all open entries are left to the host
  bool integers = false;     // vectors have scales of their own: many entries are small beside the moduli
  dd* c = nullptr;
  std::int64_t ldc = 0;
  std::uint32_t* open = nullptr;  // room for m n: entries that are open from the front, those left to the host behind
  struct Counts {
    unsigned long long open, left, looked_at;
  }* counts = nullptr;

  // Where more than half are open the host has all of them, from the front of the list.
  constexpr bool settles(unsigned long long count) const {
    return !binary128 && 2 * count <= static_cast<unsigned long long>(m) * static_cast<unsigned long long>(n);
  }
};

void measure_quad_on_device(const DeviceQuadSide& side, cudaStream_t stream);
// Finds the maxima of all sizes, and sets scales.
void set_quad_scales_on_device(const DeviceQuadSide& a, const DeviceQuadSide& b, const QuadSizes& sizes,
                               DeviceQuadFacts* facts, cudaStream_t stream);
// The samples, at the scales that are there.
void sample_quad_on_device(const DeviceQuadSide& a, const DeviceQuadSide& b, DeviceQuadFacts* facts,
                           cudaStream_t stream);
// Residues of elements of 4 or 6 words at the scales that are there; planes[modulus][vector][pitch].
void convert_quad_on_device(const QuadView& x, const QuadScale* scales, int words, int moduli, std::uint8_t* planes,
                            cudaStream_t stream);
// Entries that are decided go to C, the others to the list.
void round_dd_on_device(const DeviceDdBlock& block, cudaStream_t stream);
void round_binary128_on_device(const DeviceDdBlock& block, cudaStream_t stream);
void round_exact_dd_on_device(const DeviceDdBlock& block, unsigned settle_blocks, cudaStream_t stream);
// Entries `first` to `first + count` of those that are left; and back.
void gather_left_entries(const DeviceDdBlock& block, std::int64_t first, std::int64_t count, LeftEntry* out,
                         cudaStream_t stream);
void scatter_left_entries(const DeviceDdBlock& block, std::int64_t count, const LeftEntry* from, cudaStream_t stream);

}  // namespace vernier::cuda
