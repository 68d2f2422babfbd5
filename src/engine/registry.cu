#include "base/status.hpp"
#include "cuda/device.hpp"
#include "engine/int8_mma.hpp"

namespace vernier::cuda {

const std::vector<const DeviceInt8Engine*>& device_int8_engines() {
  static const std::vector<const DeviceInt8Engine*> engines = {&sm90_int8_engine(), &mma_int8_engine(),
                                                               &cublas_int8_engine()};
  return engines;
}

namespace {

// Blackwell for data centres reaches the full rate of its tensor cores by other instructions than mma.sync: cuBLAS has
// them.
bool left_to_cublas(const DeviceInt8Engine& engine) {
  return &engine == &mma_int8_engine() && current_device().compute_capability / 10 == 10 &&
         cublas_int8_engine().missing().empty();
}

}  // namespace

const DeviceInt8Engine& find_device_int8_engine(std::string_view name) {
  std::string missing;
  for (const DeviceInt8Engine* engine : device_int8_engines()) {
    if (!name.empty() && engine->name() != name) continue;
    missing = engine->missing();
    if (missing.empty() && !(name.empty() && left_to_cublas(*engine))) return *engine;
    if (!missing_device().empty()) fail(Status::unsupported, "{}", missing_device());
    if (!name.empty()) fail(Status::unsupported, "engine \"{}\" does not run here: {}", name, missing);
  }
  if (name.empty())
    fail(Status::unsupported, "no int8 engine runs here: {}; contracts fp64 and fp32 are cuBLAS's products", missing);
  std::string names;
  for (const DeviceInt8Engine* engine : device_int8_engines())
    names += (names.empty() ? "" : ", ") + std::string(engine->name());
  fail(Status::invalid_argument, "engine \"{}\": expected one of {}", name, names);
}

}  // namespace vernier::cuda
