// Where the CUDA part is left out of the build.
#include "base/status.hpp"
#include "vernier/split.hpp"

#if !VERNIER_HAS_CUDA
namespace vernier::split {

void multiply_on_gpu(const Scheme&, Op, Op, std::int64_t, std::int64_t, std::int64_t, float, const float*, std::int64_t,
                     const float*, std::int64_t, float, float*, std::int64_t, void*, bool) {
  fail(Status::unsupported, "split: this library was built without CUDA");
}

}  // namespace vernier::split
#endif
