// fp16 and bf16.
#include "kernel.cuh"

namespace vernier::model::gpu {

void add_half_runners(Runners& r) { HalfInstructions::each(AddRunner{r}); }

}  // namespace vernier::model::gpu
