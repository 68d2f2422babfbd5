#include "lapack/triangle/triangles.cuh"

namespace vernier::cuda {

template class DeviceTriangles<double>;

}  // namespace vernier::cuda
