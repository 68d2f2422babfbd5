// vernier/cuda.hpp and cuda_level3.hpp in a build without CUDA.
#include "base/status.hpp"
#include "vernier/cuda_level3.hpp"
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
Report gemmt(Uplo, Op, Op, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, std::int64_t,
             Scalar<T>, T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
Report syrkx(Uplo, Op, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, std::int64_t, Scalar<T>,
             T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
Report herkx(Uplo, Op, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, std::int64_t, Real<T>,
             T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
Report symm(Side, Uplo, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, std::int64_t,
            Scalar<T>, T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
Report hemm(Side, Uplo, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, std::int64_t,
            Scalar<T>, T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
Report syrk(Uplo, Op, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, Scalar<T>, T*, std::int64_t,
            const Options&) {
  fail_without_cuda();
}
template <class T>
Report herk(Uplo, Op, std::int64_t, std::int64_t, Real<T>, const T*, std::int64_t, Real<T>, T*, std::int64_t,
            const Options&) {
  fail_without_cuda();
}
template <class T>
Report syr2k(Uplo, Op, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, std::int64_t, Scalar<T>,
             T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
Report her2k(Uplo, Op, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, std::int64_t, Real<T>,
             T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
Report trmm(Side, Uplo, Op, Diag, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, const T*, std::int64_t,
            T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
Report trsm(Side, Uplo, Op, Diag, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t, T*, std::int64_t,
            const Options&) {
  fail_without_cuda();
}
template <class T>
Report gemm_batched(Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T* const*, std::int64_t,
                    const T* const*, std::int64_t, const T*, T* const*, std::int64_t, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
Report gemm_strided_batched(Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T*, std::int64_t,
                            std::int64_t, const T*, std::int64_t, std::int64_t, const T*, T*, std::int64_t,
                            std::int64_t, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
SliceReport gemm_by_slices(Op, Op, std::int64_t, std::int64_t, std::int64_t, Scalar<T>, const T*, std::int64_t,
                           const T*, std::int64_t, Scalar<T>, T*, std::int64_t, const SliceOptions&, void*) {
  fail_without_cuda();
}
void release_workspace() {}
std::vector<EngineInfo> engines() { return {}; }
std::string device_name() { fail_without_cuda(); }

#define VERNIER_INSTANTIATE(T)                                                                                         \
  template Report gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T*, std::int64_t, const T*,   \
                       std::int64_t, const T*, T*, std::int64_t, const Options&);                                      \
  template Plan explain<T>(Op, Op, std::int64_t, std::int64_t, std::int64_t, const Options&);                          \
  template std::size_t gemm_workspace<T>(std::int64_t, std::int64_t, std::int64_t, const Options&, bool);              \
  template Report gemmt(Uplo, Op, Op, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t,   \
                        T, T*, std::int64_t, const Options&);                                                          \
  template Report symm(Side, Uplo, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t, T,   \
                       T*, std::int64_t, const Options&);                                                              \
  template Report hemm(Side, Uplo, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t, T,   \
                       T*, std::int64_t, const Options&);                                                              \
  template Report syrk(Uplo, Op, std::int64_t, std::int64_t, T, const T*, std::int64_t, T, T*, std::int64_t,           \
                       const Options&);                                                                                \
  template Report herk(Uplo, Op, std::int64_t, std::int64_t, Real<T>, const T*, std::int64_t, Real<T>, T*,             \
                       std::int64_t, const Options&);                                                                  \
  template Report syr2k(Uplo, Op, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t, T,    \
                        T*, std::int64_t, const Options&);                                                             \
  template Report syrkx(Uplo, Op, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t, T,    \
                        T*, std::int64_t, const Options&);                                                             \
  template Report herkx(Uplo, Op, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t,       \
                        Real<T>, T*, std::int64_t, const Options&);                                                    \
  template Report her2k(Uplo, Op, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t,       \
                        Real<T>, T*, std::int64_t, const Options&);                                                    \
  template Report trmm(Side, Uplo, Op, Diag, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*,          \
                       std::int64_t, T*, std::int64_t, const Options&);                                                \
  template Report trsm(Side, Uplo, Op, Diag, std::int64_t, std::int64_t, T, const T*, std::int64_t, T*, std::int64_t,  \
                       const Options&);                                                                                \
  template Report gemm_batched(Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T* const*,            \
                               std::int64_t, const T* const*, std::int64_t, const T*, T* const*, std::int64_t,         \
                               std::int64_t, const Options&);                                                          \
  template Report gemm_strided_batched(Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T*,           \
                                       std::int64_t, std::int64_t, const T*, std::int64_t, std::int64_t, const T*, T*, \
                                       std::int64_t, std::int64_t, std::int64_t, const Options&);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(std::complex<float>)
VERNIER_INSTANTIATE(std::complex<double>)
#undef VERNIER_INSTANTIATE

template SliceReport gemm_by_slices(Op, Op, std::int64_t, std::int64_t, std::int64_t, double, const double*,
                                    std::int64_t, const double*, std::int64_t, double, double*, std::int64_t,
                                    const SliceOptions&, void*);
template SliceReport gemm_by_slices(Op, Op, std::int64_t, std::int64_t, std::int64_t, float, const float*, std::int64_t,
                                    const float*, std::int64_t, float, float*, std::int64_t, const SliceOptions&,
                                    void*);

}  // namespace vernier::cuda

#endif
