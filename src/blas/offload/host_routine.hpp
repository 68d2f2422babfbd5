// A routine with matrices in memory of the host on a GPU, whole: operands go up once, the GPU's routine runs, and the
// output is written once all of it has come down. For level 3, factorisations and solvers, whose pieces would go up and
// down many times.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/duration.hpp"
#include "blas/offload/device.hpp"
#include "blas/offload/offload.hpp"
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

// A checked call that has something to multiply; a and b may be missing.
template <class T>
struct HostRoutine {
  const char* name;
  ProductShape shape;   // of the product that it amounts to, for estimates
  HostOperand<T> a, b;  // read
  HostOperand<T> c;     // written
  bool reads_c = false;
  std::optional<Uplo> triangle{};                       // of C: all that is written
  int copies = 1;                                       // of the largest matrix, that the routine makes on the device
  double share = 1;                                     // of the product's operations
  double panels = 0;                                    // seconds on a GPU of what is no product
  bool (*available)(std::int64_t rows_of_c) = nullptr;  // does the GPU have the routine?

  RoutineWork work() const {
    const auto bytes = [](const HostOperand<T>& x) { return static_cast<std::size_t>(x.rows * x.columns) * sizeof(T); };
    return {name, shape, share, panels, bytes(a) + bytes(b) + (reads_c ? bytes(c) : 0), bytes(c)};
  }
};

struct RoutineOutcome {
  bool begun = false;  // else the device's memory does not hold it
  std::string error;   // why the device stopped: C is as it was
  std::string where;   // for the report
};

// on_device(operands, stream) queues the GPU's routine, or waits for it; a null stream is the default one.
template <class T>
RoutineOutcome run_whole(const HostRoutine<T>& routine,
                         const std::function<void(const RoutineOperands<T>&, void* stream)>& on_device,
                         const Options& options, const OffloadTarget<T>& target,
                         const offload::TransferSettings& settings);

// In what a routine returns, where that has room for words.
template <class Result>
void tell_where(Result& result, bool on_device, const std::string& where) {
  if (where.empty()) return;
  if constexpr (requires { result.plan; }) {
    if (on_device && (result.fallback || result.plan.scheme == "native"))
      result.plan.scheme = "cublas";  // "native" is the CPU's BLAS
    result.plan.reason += where;
  } else if constexpr (requires { result.reason; }) {
    result.reason += result.reason.empty() ? where.substr(2) : where;
  }
}

// Nothing where the device's memory does not hold it: nothing was begun. on_device(operands, stream) and
// on_cpu(options) return what the routine returns, which tell_where() takes.
template <class T, class OnDevice, class OnCpu>
auto offloaded_routine(const HostRoutine<T>& routine, const Options& options, const OffloadTarget<T>& target,
                       const offload::TransferSettings& settings, const OnDevice& on_device, const OnCpu& on_cpu)
    -> std::optional<decltype(on_cpu(options))> {
  if (target.devices == 0) return {};  // a device that was there may be lost
  const Clock clock;
  decltype(on_cpu(options)) result{};
  const RoutineOutcome outcome = run_whole<T>(
      routine, [&](const RoutineOperands<T>& x, void* stream) { result = on_device(x, stream); }, options, target,
      settings);
  if (!outcome.begun) return {};
  if (outcome.error.empty()) {
    tell_where(result, true, outcome.where);
  } else {
    Options left = options;
    left.device = Device::cpu;
    result = on_cpu(left);
    tell_where(result, false, "; on the CPU: " + outcome.error);
  }
  if constexpr (requires {
                  { result.seconds } -> std::convertible_to<double>;
                })
    result.seconds = clock.seconds();
  return result;
}

// The same with CUDA's devices, where the options or the thread ask for a GPU. Where they leave the choice, the faster
// takes all of it: the CPU's pieces stay on the CPU. Nothing where no GPU is asked for or can be had (the device does
// not have the routine, or its memory does not hold it), nor of brief ones.
template <class T, class Describe, class OnDevice, class OnCpu>
auto offloaded_routine(const Options& options, const Describe& describe, const OnDevice& on_device, const OnCpu& on_cpu)
    -> std::optional<decltype(on_cpu(options))> {
  if (!asks_for_a_gpu(options)) return {};
  const Clock clock;
  const HostRoutine<T> routine = describe();
  if (routine.shape.empty() || stays_on_the_cpu<T>(routine.shape, options)) return {};
  const Placement place = place_routine<T>(routine.work(), options);
  std::optional<decltype(on_cpu(options))> result;
  if (place.on_gpu) {
    if (routine.available == nullptr || routine.available(routine.c.rows))
      result = offloaded_routine<T>(routine, options, cuda_target<T>(options), {.threads = offload_threads(options)},
                                    on_device, on_cpu);
  } else if (leaves_the_choice(options)) {
    Options left = options;
    left.device = Device::cpu;
    result = on_cpu(left);
  }
  if (result) place.took(clock.seconds());
  return result;
}

}  // namespace vernier
