// fp16 and bf16.
#include "model/hardware/half.cuh"

#include "kernel.cuh"

namespace vernier::model::gpu {

void add_half_runners(Runners& r) { for_each_half(AddRunner{r}); }

}  // namespace vernier::model::gpu
