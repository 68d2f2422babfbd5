#include "residue/recombine/recombine.cuh"

namespace vernier::cuda {

template void recombine_on_device(const DeviceRecombination<double>&, cudaStream_t);
template void recombine_on_device(const DeviceRecombination<float>&, cudaStream_t);

}  // namespace vernier::cuda
