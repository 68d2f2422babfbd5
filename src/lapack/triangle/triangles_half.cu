#include "lapack/triangle/triangles.cuh"

namespace vernier {

template class DeviceTriangles<__half>;

}  // namespace vernier
