#include "base/status.hpp"
#include "engine/int8_engine_cuda.hpp"

namespace vernier::cuda {

const std::vector<const DeviceInt8Engine*>& device_int8_engines() {
  static const std::vector<const DeviceInt8Engine*> engines = {&sm90_int8_engine(), &cublas_int8_engine()};
  return engines;
}

const DeviceInt8Engine& find_device_int8_engine(std::string_view name) {
  std::string missing;
  for (const DeviceInt8Engine* engine : device_int8_engines()) {
    if (!name.empty() && engine->name() != name) continue;
    missing = engine->missing();
    if (missing.empty()) return *engine;
    if (!name.empty()) fail(Status::unsupported, "engine \"{}\" does not run here: {}", name, missing);
  }
  if (name.empty()) fail(Status::unsupported, "no int8 engine runs on this GPU: {}", missing);
  std::string names;
  for (const DeviceInt8Engine* engine : device_int8_engines())
    names += (names.empty() ? "" : ", ") + std::string(engine->name());
  fail(Status::invalid_argument, "engine \"{}\": expected one of {}", name, names);
}

}  // namespace vernier::cuda
