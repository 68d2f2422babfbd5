// Energy that a GPU has used, by NVML, which is found at run time.
#pragma once

#include <string>

namespace vernier::bench {

// The counter of the calling thread's current device. The driver moves it on every 20 to 100 ms, so that work of a
// second is known to a few per cent.
class EnergyMeter {
 public:
  static std::string missing();  // why there is none, or ""

  EnergyMeter();  // throws Error(Status::unsupported) with missing()

  double joules() const;  // since the driver was loaded

 private:
  void* device_ = nullptr;
};

}  // namespace vernier::bench
