// T rounded once, in any direction.
#include "residue/quad/round_dd.cuh"

namespace vernier::cuda {

void round_exact_dd_on_device(const DeviceDdBlock& block, unsigned settle_blocks, cudaStream_t stream) {
  if (block.moduli <= 26) return launch_round_dd<6, 0, EntryForm::exact_dd>(block, settle_blocks, stream);
  if (block.moduli <= 33) return launch_round_dd<8, 0, EntryForm::exact_dd>(block, settle_blocks, stream);
  launch_round_dd<11, 0, EntryForm::exact_dd>(block, settle_blocks, stream);
}

}  // namespace vernier::cuda
