// Products in device memory, and the same product on the CPU.
#pragma once

#include "blas/fixture.hpp"
#include "cuda/device.hpp"
#include "vernier/cuda.hpp"

namespace vernier::test {

// shift: elements that the matrix lies behind an address that any vector load may take.
template <class T>
class DeviceCopy {
 public:
  explicit DeviceCopy(const Matrix<T>& x, std::int64_t shift = 0)
      : shift_(shift), memory_(size(x) + static_cast<std::size_t>(shift)) {
    cuda::copy_to_device(memory_.data() + shift_, start(x), bytes(x));
  }
  T* data() const { return memory_.data() + shift_ + Matrix<T>::guard; }
  void read(Matrix<T>& x) const {
    cuda::check(cudaMemcpy(const_cast<T*>(start(x)), memory_.data() + shift_, bytes(x), cudaMemcpyDeviceToHost),
                "to the host");
  }

 private:
  static std::size_t size(const Matrix<T>& x) {
    return static_cast<std::size_t>(2 * Matrix<T>::guard + x.ld() * x.columns());
  }
  static std::size_t bytes(const Matrix<T>& x) { return size(x) * sizeof(T); }
  static const T* start(const Matrix<T>& x) { return x.data() - Matrix<T>::guard; }

  std::int64_t shift_;
  cuda::DeviceBuffer<T> memory_;
};

// Between a matrix in device memory, whose leading dimension is padded, and x; infinite where a NaN is.
template <class T>
double largest_difference(const DeviceCopy<T>& device, const Matrix<T>& x, std::int64_t pad) {
  Matrix<T> found = padded(x, pad);
  device.read(found);
  EXPECT_EQ(found.broken_guard(), "");
  double worst = 0;
  for (std::int64_t j = 0; j < x.columns(); ++j)
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      const double difference = std::abs(static_cast<double>(found(i, j)) - static_cast<double>(x(i, j)));
      worst = difference <= worst ? worst : std::isnan(difference) ? INFINITY : difference;
    }
  return worst;
}

struct Shifts {
  std::int64_t a = 0, b = 0, c = 0;
};

// Calls cuda::gemm, and waits; asserts that nothing was written around C.
template <class T>
Outcome<T> multiply_on_gpu(const Call<T>& call, const cuda::Options& options, Shifts shifts = {}) {
  const std::int64_t m = call.a.rows(), n = call.b.columns(), k = call.a.columns();
  const Matrix<T> a = stored(call.opa, call.a, call.pad_a), b = stored(call.opb, call.b, call.pad_b);
  const bool given = call.c.rows() == m && call.c.columns() == n && m * n != 0;
  Outcome<T> out{given ? padded(call.c, call.pad_c) : Matrix<T>(m, n, call.pad_c), Report{}};
  const DeviceCopy<T> device_a(a, shifts.a), device_b(b, shifts.b), device_c(out.c, shifts.c);
  out.report = cuda::gemm(call.opa, call.opb, m, n, k, &call.alpha, device_a.data(), a.ld(), device_b.data(), b.ld(),
                          &call.beta, device_c.data(), out.c.ld(), options);
  cuda::check(cudaDeviceSynchronize(), "cuda::gemm");
  device_c.read(out.c);
  EXPECT_EQ(out.c.broken_guard(), "");
  if (options.contract.reproducible && m != 0 && n != 0 && k != 0 && call.alpha != T{0}) {
    EXPECT_EQ(out.report.plan.scheme, "residues") << out.report.plan.reason;
    if (!options.engine.empty()) {
      EXPECT_EQ(out.report.plan.engine, options.engine);
    }
  }
  return out;
}

inline Contract reproducible(Contract contract) {
  contract.reproducible = true;
  return contract;
}

template <class T>
Matrix<T> on_cpu(const Call<T>& call, const Contract& contract) {
  Options options;
  options.contract = reproducible(contract);
  return multiply(call, options).c;
}

}  // namespace vernier::test
