#include "base/asked_device.hpp"

#include <charconv>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/size.hpp"
#include "base/status.hpp"

namespace vernier {
namespace {

constexpr int nobodys_device = -1;
thread_local int device_of_thread = nobodys_device;

// The value of a variable of the environment, whose name an error begins with.
template <class Parse, class Result>
Result parsed(const char* name, const char* value, Parse parse, Result without) {
  if (value == nullptr || *value == '\0') return without;
  try {
    return parse(value);
  } catch (const Error& error) {
    throw Error(error.status(), std::string(name) + ": " + error.what());
  }
}

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

DeviceScope::DeviceScope(Device device) : before_(std::exchange(device_of_thread, static_cast<int>(device))) {
  ++device_changes;
}
DeviceScope::~DeviceScope() {
  device_of_thread = before_;
  ++device_changes;
}

Device current_device() {
  if (device_of_thread != nobodys_device) return static_cast<Device>(device_of_thread);
  static const char* const variable = std::getenv("VERNIER_DEVICE");
  return parsed("VERNIER_DEVICE", variable, parse_device, Device::cpu);
}

std::size_t parse_bytes(std::string_view text) {
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const std::size_t power = std::string_view(" KMG").find(unit.empty() ? ' ' : unit.front());
  if (error != std::errc{} || count == 0 || unit.size() > 1 || power > 3)
    fail(Status::invalid_argument, "\"{}\": expected bytes, as in 3000000, 512M or 2G", text);
  return size_product({count, std::size_t{1} << 10 * power});
}

std::size_t most_gpu_memory() {
  return parsed("VERNIER_GPU_MEMORY", std::getenv("VERNIER_GPU_MEMORY"), parse_bytes, largest_size);
}

}  // namespace vernier
