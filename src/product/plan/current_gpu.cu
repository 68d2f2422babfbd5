#include "product/plan/current_gpu.hpp"

#include <map>
#include <mutex>

#include "cuda/device.hpp"

namespace vernier::cuda {
namespace {

struct Known {
  std::mutex mutex;
  std::map<int, GpuModel> of;  // device
};
Known& known() {
  static auto& all = *new Known;  // never destroyed: products may run then
  return all;
}

}  // namespace

std::string gpu_blas() { return "cuBLAS"; }

GpuModel current_gpu() {
  const Device& device = current_device();
  const std::lock_guard lock(known().mutex);
  const auto found = known().of.find(device.number);
  if (found != known().of.end()) return found->second;
  const GpuFacts facts{device.compute_capability, device.multiprocessors, device.clock, device.memory_rate,
                       takes_hopper_kernels()};
  return known().of[device.number] = gpu_model(facts, read_rates(rates_file(), device.name, gpu_blas()));
}

void forget_gpu_rates() {
  const std::lock_guard lock(known().mutex);
  known().of.clear();
}

}  // namespace vernier::cuda
