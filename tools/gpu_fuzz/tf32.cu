// tf32.
#include "kernel.cuh"

namespace vernier::model::gpu {

void add_tf32_runners(Runners& r) { Tf32Instructions::each(AddRunner{r}); }

}  // namespace vernier::model::gpu
