#include "cuda/device.hpp"
#include "residue/binary128/split.cuh"
#include "residue/quad/round_dd.cuh"

namespace vernier::cuda {

void find_exponents_on_device(const Binary128View& x, VectorExponents* out, cudaStream_t stream) {
  check(cudaMemsetAsync(out, 0x80, static_cast<std::size_t>(x.vectors) * sizeof(VectorExponents), stream), "exponents");
  launch_find_exponents(x, out, stream);
}

void split_binary128_on_device(const Binary128View& x, const VectorExponents* exponents, double* out,
                               cudaStream_t stream) {
  launch_split_binary128(x, exponents, out, stream);
}

void round_binary128_on_device(const DeviceDdBlock& block, cudaStream_t stream) {
  if (block.moduli <= 33) return launch_round<8, 0, EntryForm::binary128>(block, stream);
  launch_round<11, 0, EntryForm::binary128>(block, stream);
}

}  // namespace vernier::cuda
