#include "residue/partial_gpu/element_kernels.cuh"

namespace vernier::cuda {

void unpack_on_device(const ElementPlanes& planes, cudaStream_t stream) { launch_unpack(planes, stream); }
void pack_on_device(const ProductElements& product, cudaStream_t stream) { launch_pack(product, stream); }

}  // namespace vernier::cuda
