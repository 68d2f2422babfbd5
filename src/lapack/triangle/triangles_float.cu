#include "lapack/triangle/triangles.cuh"

namespace vernier {

template class DeviceTriangles<float>;

}  // namespace vernier
