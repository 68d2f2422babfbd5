#include "lapack/triangle/triangles.cuh"

namespace vernier::cuda {

template class DeviceTriangles<float>;

}  // namespace vernier::cuda
