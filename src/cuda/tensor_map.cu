#include "cuda/tensor_map.hpp"

#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include "base/status.hpp"
#include "cuda/status.hpp"

namespace vernier::cuda {
namespace {

// Asked of the driver at run time: a program linked to libcuda would not start where there is no driver.
PFN_cuTensorMapEncodeTiled_v12000 encode_function() {
  static const auto function = [] {
    void* pointer = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &pointer, 12000, cudaEnableDefault, &found),
          "cuTensorMapEncodeTiled");
    if (found != cudaDriverEntryPointSuccess)
      fail(Status::unsupported, "the CUDA driver has no cuTensorMapEncodeTiled; expected CUDA 12.0 or later");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(pointer);
  }();
  return function;
}

}  // namespace

CUtensorMap make_tensor_map(const PlaneStack& p) {
  const auto u64 = [](std::int64_t x) { return static_cast<cuuint64_t>(x); };
  const cuuint64_t extents[3] = {u64(p.row_bytes), u64(p.rows), u64(p.planes)};
  const cuuint64_t strides[2] = {u64(p.row_stride), u64(p.plane_stride)};
  const cuuint32_t box[3] = {box_row_bytes, static_cast<cuuint32_t>(p.box_rows), 1}, step[3] = {1, 1, 1};
  CUtensorMap map;
  const CUresult result =
      encode_function()(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, const_cast<void*>(p.base), extents, strides, box, step,
                        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    fail(Status::internal_error,
         "cuTensorMapEncodeTiled: error {} for {} planes of {} rows of {} bytes, strides {} and {}",
         static_cast<int>(result), p.planes, p.rows, p.row_bytes, p.row_stride, p.plane_stride);
  return map;
}

}  // namespace vernier::cuda
