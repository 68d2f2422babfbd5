#include "residue/exact/refine.cuh"

namespace vernier::cuda {

template void refine_open_entries(const DeviceExactBlock<double>&, cudaStream_t);
template void refine_open_entries(const DeviceExactBlock<float>&, cudaStream_t);

}  // namespace vernier::cuda
