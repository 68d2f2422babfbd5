#include "cuda/status.hpp"

#include "base/status.hpp"

namespace vernier::cuda {

void fail_with(cudaError_t code, const char* what) {
  (void)cudaGetLastError();  // a sticky error would otherwise be reported again by the next, innocent call
  if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction)
    fail(Status::unsupported, "{}: this library has no code of it for the GPU at hand", what);
  fail(code == cudaErrorMemoryAllocation ? Status::out_of_memory : Status::device_error, "{}: {} ({})", what,
       cudaGetErrorString(code), cudaGetErrorName(code));
}

}  // namespace vernier::cuda
