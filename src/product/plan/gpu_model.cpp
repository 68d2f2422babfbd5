#include "product/plan/gpu_model.hpp"

#include "product/plan/measured_rates.hpp"

namespace vernier {
namespace {

// Operations of a multiprocessor in a cycle, from the rates and clocks that NVIDIA publishes: dense, by tensor cores
// where they are faster; int8 by mma.sync, on 10.x by what cuBLAS has; fp16 by
// mma.sync with sums in fp32.
struct Architecture {
  int first_capability;
  double int8, fp64, fp32, fp16;
};
constexpr Architecture architectures[] = {
    {80, 4096, 128, 128, 2048},    // A100
    {86, 2048, 4, 256, 512},       // RTX 30; A10 and A40 have twice the fp16
    {87, 4096, 4, 256, 1024},      // Orin
    {89, 2048, 4, 256, 512},       // RTX 40; L40 and RTX 6000 Ada have twice the fp16
    {90, 5700, 256, 256, 2560},    // H100, H200: what kernels reach; registers alone two thirds of wgmma
    {100, 16384, 128, 256, 2048},  // B200
    {103, 1024, 4, 256, 2048},     // B300
    {110, 2048, 4, 256, 1024},     // Thor
    {120, 2048, 4, 256, 512},      // RTX 50; RTX PRO 6000 has twice the fp16
};

constexpr double int8_share = 0.7, half_share = 0.5, native_share = 0.9,
                 memory_share = 0.8;                           // of the peak, in large products
constexpr double least_clock = 1e9, least_memory_rate = 2e11;  // of GPUs whose driver does not tell
constexpr double fp64_of_element = 10, fp64_of_entry = 80;     // instructions, by count

}  // namespace

GpuModel gpu_model(const GpuFacts& facts) {
  return facts.compute_capability == 90 && facts.hopper ? GpuModel{} : derived_gpu_model(facts);
}

GpuModel gpu_model(const GpuFacts& facts, const MeasuredRates& rates) {
  GpuModel gpu = gpu_model(facts);
  if (gpu.clusters || rates.times.empty()) return gpu;
  gpu.measured = true;
  for (const MeasuredTime& t : rates.times) {
    const double n = static_cast<double>(t.n), products = 2 * n * n * n / t.seconds;
    if (t.method == "native") (t.single_precision ? gpu.native_single : gpu.native_double) = products;
    if (t.method == int8_rate && gpu.sums == 0) gpu.int8 = products * t.moduli;
    if (t.method == half_rate) gpu.half = 3 * products;
    if (t.method == copy_rate) gpu.conversion = gpu.recombination = gpu.pairing = 16 * n * n / t.seconds;
  }
  return gpu;
}

GpuModel derived_gpu_model(const GpuFacts& facts) {
  GpuModel gpu;
  gpu.clusters = false;
  gpu.residues = facts.compute_capability >= architectures[0].first_capability;
  Architecture a = architectures[0];
  for (const Architecture& next : architectures)
    if (facts.compute_capability >= next.first_capability) a = next;
  const double cycles = facts.multiprocessors * (facts.clock > 0 ? facts.clock : least_clock);
  const double memory = memory_share * (facts.memory_rate > 0 ? facts.memory_rate : least_memory_rate);
  gpu.int8 = int8_share * a.int8 * cycles;
  gpu.half = half_share * a.fp16 * cycles;
  gpu.half_k = 256;
  const bool by_cublas = facts.compute_capability / 10 == 10;
  const bool later = facts.compute_capability == 90;  // clusters and early starts, as measured
  gpu.sums = by_cublas ? 9 / memory : 0;              // written, read, and a byte written
  gpu.conversion = gpu.recombination = gpu.pairing = memory;
  gpu.read_bytes = later ? 8 : 24;  // once, or in three sweeps
  gpu.element = fp64_of_element / (a.fp64 / 2 * cycles);
  gpu.entry = fp64_of_entry / (a.fp64 / 2 * cycles);
  if (!later) gpu.launches = 30e-6;
  gpu.launch = by_cublas ? 2e-6 : 0;
  gpu.native_double = native_share * a.fp64 * cycles;
  gpu.native_single = native_share * a.fp32 * cycles;
  return gpu;
}

}  // namespace vernier
