// What stands for functions of the CUDA part in a build without it.
#pragma once

#include "base/status.hpp"

namespace vernier::cuda {

[[noreturn]] inline void fail_without_cuda() {
  fail(Status::unsupported, "this libvernier was built without CUDA; expected one that was built with nvcc");
}

}  // namespace vernier::cuda

// Defines a function by its result, name and types of parameters; and a function template of T.
#define VERNIER_PLAIN_STUB(Result, name, ...) \
  Result name(__VA_ARGS__) { fail_without_cuda(); }
#define VERNIER_STUB(Result, name, T, ...) \
  template <class T>                       \
  VERNIER_PLAIN_STUB(Result, name, __VA_ARGS__)
