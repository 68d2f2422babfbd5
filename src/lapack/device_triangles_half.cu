#include "lapack/device_triangles.cuh"

namespace vernier {

template class DeviceTriangles<__half>;

}  // namespace vernier
