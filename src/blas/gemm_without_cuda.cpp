// vernier/cuda.hpp in a build without CUDA.
#include "base/status.hpp"
#include "vernier/cuda.hpp"
#include "vernier/slices.hpp"

#if !VERNIER_HAS_CUDA

namespace vernier::cuda {
namespace {

[[noreturn]] void fail_without_cuda() {
  fail(Status::unsupported, "this libvernier was built without CUDA; expected one that was built with nvcc");
}

}  // namespace

template <class T>
Report gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T*, std::int64_t, const T*, std::int64_t,
            const T*, T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
Plan explain(Op, Op, std::int64_t, std::int64_t, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
std::size_t gemm_workspace(std::int64_t, std::int64_t, std::int64_t, const Options&, bool) {
  fail_without_cuda();
}
template <class T>
SliceReport gemm_by_slices(Op, Op, std::int64_t, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*,
                           std::int64_t, T, T*, std::int64_t, const SliceOptions&, void*) {
  fail_without_cuda();
}
void release_workspace() {}
std::vector<EngineInfo> engines() { return {}; }
std::string device_name() { fail_without_cuda(); }

template Report gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, const double*, const double*, std::int64_t,
                     const double*, std::int64_t, const double*, double*, std::int64_t, const Options&);
template Report gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, const float*, const float*, std::int64_t,
                     const float*, std::int64_t, const float*, float*, std::int64_t, const Options&);
template Plan explain<double>(Op, Op, std::int64_t, std::int64_t, std::int64_t, const Options&);
template Plan explain<float>(Op, Op, std::int64_t, std::int64_t, std::int64_t, const Options&);
template std::size_t gemm_workspace<double>(std::int64_t, std::int64_t, std::int64_t, const Options&, bool);
template std::size_t gemm_workspace<float>(std::int64_t, std::int64_t, std::int64_t, const Options&, bool);

template SliceReport gemm_by_slices(Op, Op, std::int64_t, std::int64_t, std::int64_t, double, const double*,
                                    std::int64_t, const double*, std::int64_t, double, double*, std::int64_t,
                                    const SliceOptions&, void*);
template SliceReport gemm_by_slices(Op, Op, std::int64_t, std::int64_t, std::int64_t, float, const float*, std::int64_t,
                                    const float*, std::int64_t, float, float*, std::int64_t, const SliceOptions&,
                                    void*);

}  // namespace vernier::cuda

#endif
