#include "lapack/triangle/triangles.cuh"

namespace vernier::cuda {

template class DeviceTriangles<__half>;

}  // namespace vernier::cuda
