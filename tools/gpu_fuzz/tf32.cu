// tf32.
#include "model/hardware/tf32.cuh"

#include "kernel.cuh"

namespace vernier::model::gpu {

void add_tf32_runners(Runners& r) { for_each_tf32(AddRunner{r}); }

}  // namespace vernier::model::gpu
