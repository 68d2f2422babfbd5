#include "plan/device_cost.hpp"

#include <type_traits>

#include "plan/bounds.hpp"
#include "plan/split_cost.hpp"

namespace vernier {
namespace {

// Rates of one H200 (bench/results/gemm_h200.json).
constexpr double int8_rate = 1.5e15;           // operations a second, reduction included, k long
constexpr double half_k = 110;                 // k at which half of that is reached
constexpr double conversion_rate = 2.5e12;     // bytes a second, operands read and residues written
constexpr double recombination_rate = 3.4e12;  // residues and C read, C written
constexpr double pairing_rate = 3.2e12;        // bytes read and written, of complex products
constexpr double residue_launches = 13e-6;     // what the chain of kernels takes at least
constexpr double strassen_launches = 20e-6;    // how much longer it is, and the wait for the host in it
// Irregular products: block spans, the choice of scales, and the longer Chinese remainder.
constexpr double irregular_factor = 1.6, irregular_seconds = 0.5e-3;
constexpr double look_latency = 15e-6;  // of the host's answer to a look at the data
constexpr double native_double = 60e12, native_launch = 8e-6;

double at_native_rate(const ProductShape& s) {
  const double operations = 2 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  return operations / native_double + native_launch;
}

// What it cost to look at data that the lean rule did not serve.
double look_seconds(const ProductShape& s) {
  return 8 * static_cast<double>(s.m + s.n) * static_cast<double>(s.k) / conversion_rate + look_latency;
}

}  // namespace

double device_residue_seconds(const ProductShape& s, int moduli, bool strassen) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double planes = strassen ? moduli * 7.0 / 4 : moduli;  // written for each element
  const double depth = strassen ? 7.0 / 8 * (k + 2 * half_k) : k + half_k;
  const double products = 2 * moduli * m * n * depth / int8_rate;
  const double conversions = (m + n) * k * (strassen ? 16 + planes : 8 + planes) / conversion_rate;
  const double recombination = m * n * (moduli + 16) / recombination_rate;
  const double sums = strassen ? m * n * (planes - moduli) / recombination_rate + strassen_launches : 0;
  return products + conversions + recombination + sums + residue_launches;
}

double device_complex_seconds(const ProductShape& s, int moduli) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double operands = 2 * (m + n) * k, result = 2 * m * n;  // real numbers
  return 4 * moduli * m * n * (k + half_k) / int8_rate + operands * (8 + moduli) / conversion_rate +
         2 * moduli * operands / pairing_rate + result * (moduli + 16) / recombination_rate +
         2 * moduli * result / pairing_rate + 2 * residue_launches;
}

double irregular_device_seconds(const ProductShape& shape, std::initializer_list<int> moduli) {
  double seconds = irregular_seconds;
  for (const int count : moduli) seconds += count == 0 ? 0 : irregular_factor * device_residue_seconds(shape, count);
  return seconds;
}

double device_native_seconds(const ProductShape& s, bool single_precision) {
  return single_precision ? device_sgemm_seconds(s.m, s.n, s.k) : at_native_rate(s);
}

bool native_ends_before_residues(const ProductShape& shape) { return at_native_rate(shape) <= residue_launches; }

template <class T>
bool full_rule_loses(const ProductShape& shape, const Contract& contract) {
  if (!lean_rule<T>(contract, shape.k)) return false;
  const int moduli = moduli_of(scaling_rule<T>(contract, shape.k), shape.k);
  return device_residue_seconds(shape, moduli) + look_seconds(shape) >=
         device_native_seconds(shape, std::is_same_v<T, float>);
}
template bool full_rule_loses<double>(const ProductShape&, const Contract&);
template bool full_rule_loses<float>(const ProductShape&, const Contract&);

}  // namespace vernier
