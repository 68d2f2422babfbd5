#include "lapack/triangle/triangles.cuh"

namespace vernier {

template class DeviceTriangles<double>;

}  // namespace vernier
