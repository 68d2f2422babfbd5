// Level 3 with matrices in memory of the host on a GPU, whole: operands go up once, the routine of cuda_level3.hpp
// runs, and the output is written once all of it has come down. Where the GPU's memory does not hold them, the CPU's
// routine runs, and each of its products may go to the GPU in blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "blas/device.hpp"
#include "blas/offload.hpp"
#include "vernier/cuda_level3.hpp"
#include "vernier/level3.hpp"

namespace vernier {

// As it is stored; column-major.
template <class T>
struct HostOperand {
  const T* data = nullptr;
  std::int64_t rows = 0, columns = 0, ld = 0;

  const T* last() const { return data + (rows - 1) + (columns - 1) * ld; }
};

// op(X) is rows x columns.
template <class T>
HostOperand<T> stored_operand(Op op, const T* data, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
  return op == Op::none ? HostOperand<T>{data, rows, columns, ld} : HostOperand<T>{data, columns, rows, ld};
}

// On the device.
template <class T>
struct RoutineOperands {
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  T* c;
  std::int64_t ldc;
};

// One checked call that has something to multiply.
template <class T>
struct HostRoutine {
  const char* name;
  ProductShape shape;   // of the product that it amounts to, for estimates
  HostOperand<T> a, b;  // b.data may be null
  HostOperand<T> c;     // written
  bool reads_c = false;
  std::optional<Uplo> triangle{};  // of C: all that is written
  std::function<Report(const RoutineOperands<T>&, const cuda::Options&)> on_device{};
  std::function<Report(const Options&)> on_cpu{};  // the public routine
};

// Nothing where the device's memory does not hold it: nothing was begun.
template <class T>
std::optional<Report> offloaded_routine(const HostRoutine<T>& routine, const Options& options,
                                        const OffloadTarget<T>& target, const offload::TransferSettings& settings);

// Nothing, and describe() is not asked for the routine, but where the options or the thread ask for a GPU and the
// estimate is for it.
template <class T, class Describe>
std::optional<Report> offloaded_routine(const ProductShape& shape, bool reads_c, const Options& options,
                                        const Describe& describe) {
  if (shape.empty() || !offload_plan<T>(shape, reads_c, options)) return {};
  return offloaded_routine<T>(describe(), options, cuda_target<T>(options), {.threads = offload_threads(options)});
}

}  // namespace vernier
