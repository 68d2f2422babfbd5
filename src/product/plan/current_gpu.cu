#include "product/plan/current_gpu.hpp"

#include <atomic>
#include <map>
#include <mutex>

#include "cuda/device.hpp"
#include "product/plan/measured_rates.hpp"

namespace vernier::cuda {
namespace {

struct Known {
  std::mutex mutex;
  std::map<int, GpuModel> of;       // device
  std::atomic<unsigned> forgotten;  // how often
};
Known& known() {
  static auto& all = *new Known;  // never destroyed: products may run then
  return all;
}

}  // namespace

std::string gpu_blas() { return "cuBLAS"; }

GpuModel current_gpu() {
  struct Last {
    int device = -1;
    unsigned forgotten;
    GpuModel gpu;
  };
  thread_local Last last;  // every product asks
  const Device& device = current_device();
  Known& all = known();
  const unsigned forgotten = all.forgotten;
  if (last.device == device.number && last.forgotten == forgotten) return last.gpu;
  const std::lock_guard lock(all.mutex);
  const auto found = all.of.find(device.number);
  if (found != all.of.end()) {
    last = {device.number, forgotten, found->second};
    return last.gpu;
  }
  const GpuFacts facts{device.compute_capability, device.multiprocessors, device.clock, device.memory_rate,
                       takes_hopper_kernels()};
  return all.of[device.number] = gpu_model(facts, read_rates(rates_file(), device.name, gpu_blas()));
}

void forget_gpu_rates() {
  const std::lock_guard lock(known().mutex);
  known().of.clear();
  ++known().forgotten;
}

}  // namespace vernier::cuda
