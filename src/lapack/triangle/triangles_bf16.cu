#include "lapack/triangle/triangles.cuh"

namespace vernier::cuda {

template class DeviceTriangles<__nv_bfloat16>;

}  // namespace vernier::cuda
