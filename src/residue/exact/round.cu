#include "residue/exact/round.cuh"

namespace vernier::cuda {

template void round_on_device(const DeviceExactBlock<double>&, cudaStream_t);
template void round_on_device(const DeviceExactBlock<float>&, cudaStream_t);

}  // namespace vernier::cuda
