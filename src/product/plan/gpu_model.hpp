// What estimates need to know of a GPU: measured on one H200, derived from public figures for others.
#pragma once

namespace vernier {

struct MeasuredRates;

inline constexpr int h200_multiprocessors = 132;

// As the driver tells.
struct GpuFacts {
  int compute_capability = 90;
  int multiprocessors = h200_multiprocessors;
  double clock = 0, memory_rate = 0;  // cycles, bytes a second
  bool hopper = true;                 // on 9.0: kernels written for it are taken
};

// The values that stand here are those of Hopper, by one H200 (bench/results/gemm_h200.json).
struct GpuModel {
  bool clusters = true;           // kernels that work in clusters of blocks, and the product of |A| and |B|
  bool residues = true;           // some int8 engine runs there
  double int8 = 1.5e15;           // operations a second, reduction included, k long
  double half_k = 110;            // k at which half of that is reached
  double sums = 0;                // seconds for each entry and modulus, where sums of 32 bits go through memory
  double conversion = 2.5e12;     // bytes a second, operands read and residues written
  double read_bytes = 8;          // of an element in all
  double element = 0;             // seconds for each, beside those for its bytes
  double recombination = 3.4e12;  // residues and C read, C written
  double entry = 0;               // seconds for each, likewise
  double pairing = 3.2e12;        // bytes read and written between the two products of complex ones
  double launches = 13e-6;        // what the chain of kernels takes at least
  double launch = 0;              // and for each modulus
  double native_double = 60e12;   // operations a second of a long product
  double native_single = 0;       // 0: device_sgemm_seconds()
  bool measured = false;          // rates of this card, as `vernier info --measure` found them
  double half = 0;  // of fp16 by mma.sync, sums in fp32; 0: Hopper's own kernels, as split/cost.cpp has them
};

GpuModel gpu_model(const GpuFacts& facts);

// The same, with the rates that were measured on this card in place of those by public figures.
GpuModel gpu_model(const GpuFacts& facts, const MeasuredRates& rates);

// What is timed for that: rows of MeasuredTime. "native" is cuBLAS; products are n x n x n.
inline constexpr const char *int8_rate = "mma_int8", *half_rate = "halfhalf_sep", *copy_rate = "copy";

// By public figures, and engine mma_int8 or, on compute capability 10.x, cublas_int8.
GpuModel derived_gpu_model(const GpuFacts& facts);

}  // namespace vernier
