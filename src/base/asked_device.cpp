#include "base/asked_device.hpp"

#include <cstdlib>
#include <string>
#include <utility>

#include "base/status.hpp"

namespace vernier {
namespace {

constexpr int not_set = -1;
thread_local int device_of_thread = not_set;

}  // namespace

const char* to_string(Device device) {
  constexpr const char* names[] = {"cpu", "cuda", "auto"};
  return names[static_cast<int>(device)];
}

Device parse_device(std::string_view text) {
  for (const Device device : {Device::cpu, Device::cuda, Device::automatic})
    if (text == to_string(device)) return device;
  fail(Status::invalid_argument, "device \"{}\": expected cpu, cuda or auto", text);
}

DeviceScope::DeviceScope(Device device) : before_(std::exchange(device_of_thread, static_cast<int>(device))) {}
DeviceScope::~DeviceScope() { device_of_thread = before_; }

Device current_device() {
  if (device_of_thread != not_set) return static_cast<Device>(device_of_thread);
  static const char* const variable = std::getenv("VERNIER_DEVICE");
  if (variable == nullptr || *variable == '\0') return Device::cpu;
  try {
    return parse_device(variable);
  } catch (const Error& error) {
    throw Error(error.status(), std::string("VERNIER_DEVICE: ") + error.what());
  }
}

}  // namespace vernier
