#include "lapack/triangle/triangles.cuh"

namespace vernier::cuda {

template class DeviceTriangles<float>;
template class DeviceTriangles<double>;
template class DeviceTriangles<__half>;
template class DeviceTriangles<__nv_bfloat16>;

}  // namespace vernier::cuda
