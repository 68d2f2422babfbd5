// fp8: mma.sync and wgmma are different engines.
#include "model/hardware/bytes.cuh"

#include "kernel.cuh"

namespace vernier::model::gpu {

void add_fp8_runners(Runners& r) { for_each_fp8(AddRunner{r}); }

}  // namespace vernier::model::gpu
