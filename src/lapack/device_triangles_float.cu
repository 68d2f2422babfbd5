#include "lapack/device_triangles.cuh"

namespace vernier {

template class DeviceTriangles<float>;

}  // namespace vernier
