
#include <algorithm>
#include <type_traits>

#include "base/fmt.hpp"
#include "base/instantiate.hpp"
#include "residue/convert/winograd.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/plan/cost.hpp"
#include "residue/plan/cost_cuda.hpp"

namespace vernier {
namespace {

std::string advice(int moduli, double gain) {
  constexpr double least_gain = 1.05;
  if (gain < least_gain) return {};
  return fmt::format("; fp64-normwise serves all data with {} moduli, by estimate {:.1f} times as fast", moduli, gain);
}

}  // namespace

template <class T>
std::string normwise_advice(const ProductShape& shape, const Contract& contract, std::string_view engine, int threads) {
  if (contract.kind != Contract::Kind::fp64) return {};
  const int moduli = ordinary_moduli<T>(Contract::normwise(), shape.k);
  return advice(moduli, native_seconds(shape, std::is_same_v<T, float>, threads) /
                            residue_seconds(engine, shape, moduli, threads));
}

template <class T>
std::string device_normwise_advice(const ProductShape& shape, const Contract& contract, const GpuModel& gpu) {
  if (contract.kind != Contract::Kind::fp64 || !gpu.residues) return {};
  const int moduli = ordinary_moduli<T>(Contract::normwise(), shape.k);
  double seconds = device_residue_seconds(shape, moduli, false, gpu);
  if (gpu.clusters && moduli <= most_winograd_moduli)
    seconds = std::min(seconds, device_residue_seconds(shape, moduli, true, gpu));
  return advice(moduli, device_native_seconds(shape, std::is_same_v<T, float>, gpu) / seconds);
}

VERNIER_REAL_INSTANCES(normwise_advice, device_normwise_advice)

}  // namespace vernier
