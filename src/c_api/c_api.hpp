// What the sources of the C interface share: the handle, and the border that no exception crosses.
#pragma once

#include <algorithm>
#include <complex>
#include <new>
#include <optional>

#include "vernier/cuda_level3.hpp"
#include "vernier/level3.hpp"
#include "vernier/offload.hpp"
#include "vernier/vernier.h"

struct vernier_context {
  std::optional<vernier::Contract> contract, next_contract;
  std::optional<vernier::Device> device;
  vernier::Options options;
  vernier::cuda::Options on_gpu;
  void* cublas = nullptr;
  std::optional<vernier::Report> report,
      incomplete;                   // the last product's; as it was before a GPU's outcome completed it
  std::string error, text, reason;  // the last plan's
};

namespace vernier::c_api {

inline thread_local std::string error_without_handle;

inline vernier_status code_of(Status status) {
  constexpr vernier_status codes[] = {VERNIER_SUCCESS,       VERNIER_INVALID_ARGUMENT, VERNIER_OUT_OF_MEMORY,
                                      VERNIER_UNSUPPORTED,   VERNIER_BOUND_NOT_MET,    VERNIER_DEVICE_ERROR,
                                      VERNIER_INTERNAL_ERROR};
  return codes[static_cast<int>(status)];
}

inline vernier_status failed(std::string& message, vernier_status status, const char* what) noexcept {
  try {
    message = what;
  } catch (...) {  // no memory for the words: the code stands alone
    message.clear();
  }
  return status;
}

// Runs body; nothing leaves.
template <class Body>
vernier_status guarded(std::string& message, Body body) noexcept {
  try {
    body();
    return VERNIER_SUCCESS;
  } catch (const Error& error) {
    return failed(message, code_of(error.status()), error.what());
  } catch (const std::bad_alloc&) {
    return failed(message, VERNIER_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return failed(message, VERNIER_INTERNAL_ERROR, error.what());
  } catch (...) {
    return failed(message, VERNIER_INTERNAL_ERROR, "an unknown exception");
  }
}

template <class Body>
vernier_status with_handle(vernier_handle handle, Body body) noexcept {
  if (handle == nullptr) return failed(error_without_handle, VERNIER_NOT_INITIALIZED, "the handle is null");
  return guarded(handle->error, [&] {
    std::optional<DeviceScope> scope;
    if (handle->device) scope.emplace(*handle->device);
    body();
  });
}

inline void require(bool condition, const char* message) {
  if (!condition) throw Error(Status::invalid_argument, message);
}

// body(T{}) for the C++ type that `type` names.
template <class Body>
void with_type(vernier_type type, Body body) {
  if (type == VERNIER_S) return body(float{});
  if (type == VERNIER_D) return body(double{});
  if (type == VERNIER_C) return body(std::complex<float>{});
  if (type == VERNIER_Z) return body(std::complex<double>{});
  throw Error(Status::invalid_argument, "type: expected VERNIER_S, VERNIER_D, VERNIER_C or VERNIER_Z");
}

inline void copy_name(const std::string& name, char* out, std::size_t size) {
  const std::size_t length = std::min(name.size(), size - 1);
  std::fill_n(std::copy_n(name.begin(), length, out), size - length, '\0');
}

inline vernier_report summary(const Report& full) {
  const Plan& plan = full.plan;
  vernier_report report = {};
  copy_name(plan.scheme, report.scheme, sizeof report.scheme);
  copy_name(plan.engine, report.engine, sizeof report.engine);
  report.m = plan.m, report.n = plan.n, report.k = plan.k;
  report.moduli = plan.moduli;
  report.threads = plan.threads;
  report.fallback = full.fallback ? 1 : 0;
  report.span_a = full.span_a, report.span_b = full.span_b;
  report.log2_bound = plan.log2_bound;
  report.seconds = full.seconds;
  return report;
}

// The settings, and the contract of this call. C++ checks the letter.
template <class T>
Options options_of(const vernier_context& context) {
  Options options = context.options;
  options.contract = context.next_contract.value_or(context.contract.value_or(default_contract<T>()));
  return options;
}

// The same for a GPU.
template <class T>
cuda::Options gpu_options_of(const vernier_context& context) {
  cuda::Options options = context.on_gpu;
  options.contract = options_of<T>(context).contract;
  options.workspace_limit = context.options.workspace_limit;
  return options;
}

template <class T>
T scalar(const char* message, const void* value) {
  require(value != nullptr, message);
  return *static_cast<const T*>(value);
}

// C++ checks the letter; a number that is none is 0, which it refuses.
inline char letter(int x) { return static_cast<char>(x == (x & 0x7f) ? x : 0); }
inline Op as(vernier_op x) { return static_cast<Op>(letter(x)); }
inline Side as(vernier_side x) { return static_cast<Side>(letter(x)); }
inline Uplo as(vernier_uplo x) { return static_cast<Uplo>(letter(x)); }
inline Diag as(vernier_diag x) { return static_cast<Diag>(letter(x)); }

template <class T>
const T* in(const void* matrix) {
  return static_cast<const T*>(matrix);
}
template <class T>
T* out(void* matrix) {
  return static_cast<T*>(matrix);
}

// A product: its report is kept, and a contract for one call is used up, also by a call that fails.
template <class Body>
vernier_status product(vernier_handle handle, vernier_type type, Body body) noexcept {
  return with_handle(handle, [&] {
    struct UseUp {
      vernier_context& context;
      ~UseUp() { context.next_contract.reset(); }
    } const use_up{*handle};
    with_type(type, [&]<class T>(T) { handle->report = body(T{}, options_of<T>(*handle)); });
    handle->incomplete.reset();
  });
}

}  // namespace vernier::c_api

// Bodies of C functions: what one does with its handle; a routine of `type`, called as run() does, or of a T.
#define VERNIER_C_BODY(...) return with_handle(handle, [&] { __VA_ARGS__; })
#define VERNIER_C_RUN(run, ...) return run(handle, type, [&]<class T>(T, const auto& options) { return __VA_ARGS__; })
#define VERNIER_C_OF(with, ...) return with_handle(handle, [&] { with(type, [&]<class T>(T) { __VA_ARGS__; }); })
