#include "residue/plan/cost_cuda.hpp"

#include <type_traits>

#include "base/instantiate.hpp"
#include "product/plan/native_cost.hpp"
#include "residue/plan/bounds.hpp"

namespace vernier {
namespace {

// Rates of one H200 (bench/results/gemm_h200.json); GpuModel has those that other GPUs have too.
constexpr double strassen_launches = 20e-6;  // how much longer the chain of kernels is, and the wait for the host in it
// Irregular products: block spans, the choice of scales, and the longer Chinese remainder.
constexpr double irregular_factor = 1.6, irregular_seconds = 0.5e-3;
constexpr double attempt_latency = 15e-6;  // of the host's answer to a look at the data
constexpr double native_launch = 8e-6;

double at_native_rate(const ProductShape& s, double rate) { return 2 * s.multiplications() / rate + native_launch; }

// What it cost to look at data that the square-root rule did not serve.
double attempt_seconds(const ProductShape& s, const GpuModel& gpu) {
  return gpu.read_bytes * static_cast<double>(s.m + s.n) * static_cast<double>(s.k) / gpu.conversion + attempt_latency;
}

}  // namespace

double device_residue_seconds(const ProductShape& s, int moduli, bool strassen, const GpuModel& gpu, double share) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double planes = strassen ? moduli * 7.0 / 4 : moduli;  // written for each element
  const double depth = strassen ? 7.0 / 8 * (k + 2 * gpu.half_k) : k + gpu.half_k;
  const double products = moduli * (m * n * (2 * share * depth / gpu.int8 + gpu.sums) + gpu.launch);
  const double read = strassen ? 2 * gpu.read_bytes : gpu.read_bytes;
  const double conversions = (m + n) * k * ((read + planes) / gpu.conversion + gpu.element);
  // From 20 moduli on by a loop over them: 2.8 ms for 0.7, n = 8192.
  const double loop = moduli < 20 ? 1 : 4;
  const double recombination = m * n * (loop * (moduli + 16) / gpu.recombination + gpu.entry);
  const double sums = strassen ? m * n * (planes - moduli) / gpu.recombination + strassen_launches : 0;
  return products + conversions + recombination + sums + gpu.launches;
}

double device_complex_seconds(const ProductShape& s, int moduli, const GpuModel& gpu) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double operands = 2 * (m + n) * k, result = 2 * m * n;  // real numbers
  return 4 * moduli * m * n * (k + gpu.half_k) / gpu.int8 +
         operands * ((gpu.read_bytes + moduli) / gpu.conversion + gpu.element) + 2 * moduli * operands / gpu.pairing +
         result * ((moduli + 16) / gpu.recombination + gpu.entry) + 2 * moduli * result / gpu.pairing +
         2 * gpu.launches;
}

double device_bound_seconds(const ProductShape& s, const GpuModel& gpu, double share) {
  constexpr double latency = 35e-6;        // of five short kernels, and of what the host reads in between
  constexpr double of_int8_product = 1.5;  // its time: sums leave the tensor units every 1024 k
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  return of_int8_product * 2 * m * n * (share * k + gpu.half_k) / gpu.int8 +
         (m + n) * k * (gpu.read_bytes + 1) / gpu.conversion + 2 * m * n / gpu.recombination + latency;
}

double device_guess_seconds(const ProductShape& s, double residues, int k_step, const GpuModel& gpu) {
  constexpr double latency = 30e-6, of_int8_product = 1.5;
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double part = k / k_step;
  return residues + of_int8_product * 2 * m * n * (part + gpu.half_k) / gpu.int8 + (m + n) * part / gpu.conversion +
         latency;
}

double irregular_device_seconds(const ProductShape& shape, std::initializer_list<int> moduli, const GpuModel& gpu) {
  double seconds = irregular_seconds;
  for (const int count : moduli)
    seconds += count == 0 ? 0 : irregular_factor * device_residue_seconds(shape, count, false, gpu);
  return seconds;
}

double device_native_seconds(const ProductShape& s, bool single_precision, const GpuModel& gpu) {
  if (!single_precision) return at_native_rate(s, gpu.native_double);
  return gpu.native_single != 0 ? at_native_rate(s, gpu.native_single) : device_sgemm_seconds(s.m, s.n, s.k);
}

bool native_ends_before_residues(const ProductShape& shape, const GpuModel& gpu) {
  return at_native_rate(shape, gpu.native_double) <= gpu.launches;
}

template <class T>
bool full_rule_loses(const ProductShape& shape, const Contract& contract, const GpuModel& gpu) {
  if (!sqrt_rule<T>(contract, shape.k)) return false;
  const int moduli = moduli_of(scaling_rule<T>(contract, shape.k), shape.k);
  return device_residue_seconds(shape, moduli, false, gpu) + attempt_seconds(shape, gpu) >=
         device_native_seconds(shape, std::is_same_v<T, float>, gpu);
}
VERNIER_REAL_INSTANCES(full_rule_loses)

}  // namespace vernier
