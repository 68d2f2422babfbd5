// Options of quadruple products as a handle has them, on CPUs and GPUs.
#pragma once

#include "c_api/c_api.hpp"
#include "vernier/quad.hpp"

namespace vernier::c_api {

inline QuadOptions quad_options(vernier_handle handle, const char* contract) {
  QuadOptions options;
  options.contract = QuadContract::parse(contract == nullptr ? "" : contract);
  options.engine = handle->options.engine;
  options.threads = handle->options.threads;
  options.workspace_limit = handle->options.workspace_limit;
  return options;
}

inline QuadOptions quad_options_on_gpu(vernier_handle handle, const char* contract) {
  QuadOptions options = quad_options(handle, contract);
  options.engine = handle->on_gpu.engine == "native" ? "" : handle->on_gpu.engine;
  options.stream = handle->on_gpu.stream;
  return options;
}

}  // namespace vernier::c_api
