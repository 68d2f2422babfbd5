#pragma once

#include "device.hpp"

namespace vernier::cli {

// The operands and C of one product, copied to the GPU; C comes back.
template <class T>
class OnDevice {
 public:
  OnDevice(const std::vector<T>& a, const std::vector<T>& b, std::vector<T>& c) : c_(c), a_(a), b_(b), device_c_(c) {}
  const T* a() const { return a_.data(); }
  const T* b() const { return b_.data(); }
  T* c() const { return device_c_.data(); }
  void fetch() const { c_ = device_c_.values(); }

 private:
  std::vector<T>& c_;
  DeviceArray<T> a_, b_, device_c_;
};

}  // namespace vernier::cli
