// int8, wrapping and saturating.
#include "model/hardware/bytes.cuh"

#include "kernel.cuh"

namespace vernier::model::gpu {

void add_integer_runners(Runners& r) { for_each_int8(AddRunner{r}); }

}  // namespace vernier::model::gpu
