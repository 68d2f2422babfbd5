// fp8: mma.sync and wgmma are different engines.
#include "kernel.cuh"

namespace vernier::model::gpu {

void add_fp8_runners(Runners& r) { Fp8Instructions::each(AddRunner{r}); }

}  // namespace vernier::model::gpu
