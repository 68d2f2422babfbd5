#include "lapack/device_triangles.cuh"

namespace vernier {

template class DeviceTriangles<double>;

}  // namespace vernier
