// T in binary128, rounded once.
#include "residue/quad/round_dd.cuh"

namespace vernier::cuda {

void round_binary128_on_device(const DeviceDdBlock& block, cudaStream_t stream) {
  if (block.moduli <= 33) return launch_round<8, 0, EntryForm::binary128>(block, stream);
  launch_round<11, 0, EntryForm::binary128>(block, stream);
}

}  // namespace vernier::cuda
