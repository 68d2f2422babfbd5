// int8, wrapping and saturating.
#include "kernel.cuh"

namespace vernier::model::gpu {

void add_integer_runners(Runners& r) { Int8Instructions::each(AddRunner{r}); }

}  // namespace vernier::model::gpu
