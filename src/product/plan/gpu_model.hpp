// What estimates need to know of a GPU: measured on one H200, derived from public figures for others.
#pragma once

namespace vernier {

inline constexpr int h200_multiprocessors = 132;

// As the driver tells.
struct GpuFacts {
  int compute_capability = 90;
  int multiprocessors = h200_multiprocessors;
  double clock = 0, memory_rate = 0;  // cycles, bytes a second
};

// The values that stand here are those of Hopper, by one H200 (bench/results/gemm_h200.json).
struct GpuModel {
  // Kernels that work in clusters of blocks, and what comes with them: contract exact, Strassen-Winograd, and choices
  // that the device makes alone.
  bool clusters = true;
  bool residues = true;           // some int8 engine runs there
  double int8 = 1.5e15;           // operations a second, reduction included, k long
  double half_k = 110;            // k at which half of that is reached
  double sums = 0;                // seconds for each entry and modulus, where sums of 32 bits go through memory
  double conversion = 2.5e12;     // bytes a second, operands read and residues written
  double read_bytes = 8;          // of an element in all
  double element = 0;             // seconds for each, beside those for its bytes
  double recombination = 3.4e12;  // residues and C read, C written
  double entry = 0;               // seconds for each, likewise
  double launches = 13e-6;        // what the chain of kernels takes at least
  double launch = 0;              // and for each modulus
  double native_double = 60e12;   // operations a second of a long product
  double native_single = 0;       // 0: device_sgemm_seconds()
};

GpuModel gpu_model(const GpuFacts& facts);

// By public figures, and engine mma_int8 or, on compute capability 10.x, cublas_int8.
GpuModel derived_gpu_model(const GpuFacts& facts);

}  // namespace vernier
