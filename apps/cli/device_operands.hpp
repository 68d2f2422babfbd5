#pragma once

#include "device.hpp"

namespace vernier::cli {

// The operands and C of one product, copied to the GPU; C comes back.
template <class T>
class OnDevice {
 public:
  OnDevice(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, const T* b,
           std::int64_t ldb, std::vector<T>& c)
      : c_(c),
        a_(copy(a, lda * (opa == Op::none ? k : m))),
        b_(copy(b, ldb * (opb == Op::none ? n : k))),
        device_c_(c) {}
  const T* a() const { return a_.data(); }
  const T* b() const { return b_.data(); }
  T* c() const { return device_c_.data(); }
  void fetch() const { c_ = device_c_.values(); }

 private:
  static std::vector<T> copy(const T* x, std::int64_t count) { return {x, x + count}; }

  std::vector<T>& c_;
  DeviceArray<T> a_, b_, device_c_;
};

}  // namespace vernier::cli
