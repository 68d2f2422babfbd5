#include "lapack/triangle/triangles.cuh"

namespace vernier {

template class DeviceTriangles<__nv_bfloat16>;

}  // namespace vernier
