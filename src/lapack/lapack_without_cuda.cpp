// vernier/cuda_lapack.hpp in a build without CUDA.
#include "base/status.hpp"
#include "lapack/device_factors.hpp"
#include "vernier/cuda_lapack.hpp"

#if !VERNIER_HAS_CUDA

namespace vernier::cuda {
namespace {

[[noreturn]] void fail_without_cuda() {
  fail(Status::unsupported, "this libvernier was built without CUDA; expected one that was built with nvcc");
}

}  // namespace

template <class T>
std::int64_t getrf(std::int64_t, std::int64_t, T*, std::int64_t, std::int64_t*, const Options&) {
  fail_without_cuda();
}
template <class T>
void getrs(Op, std::int64_t, std::int64_t, const T*, std::int64_t, const std::int64_t*, T*, std::int64_t,
           const Options&) {
  fail_without_cuda();
}
template <class T>
std::int64_t gesv(std::int64_t, std::int64_t, T*, std::int64_t, std::int64_t*, T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
SolveReport solve(Op, std::int64_t, std::int64_t, const T*, std::int64_t, const T*, std::int64_t, T*, std::int64_t,
                  const SolveOptions&, void*) {
  fail_without_cuda();
}

template <class T>
std::int64_t potrf(Uplo, std::int64_t, T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
void potrs(Uplo, std::int64_t, std::int64_t, const T*, std::int64_t, T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
std::int64_t posv(Uplo, std::int64_t, std::int64_t, T*, std::int64_t, T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
SolveReport solve_definite(Uplo, std::int64_t, std::int64_t, const T*, std::int64_t, const T*, std::int64_t, T*,
                           std::int64_t, const SolveOptions&, void*) {
  fail_without_cuda();
}

template <class T>
bool has_factors(std::int64_t) {
  return false;
}
template <class T>
std::int64_t factor_for_the_host(std::int64_t, std::int64_t, T*, std::int64_t, std::vector<std::int64_t>&,
                                 const Options&) {
  fail_without_cuda();
}

#define VERNIER_INSTANTIATE(T)                                                                                        \
  template std::int64_t getrf(std::int64_t, std::int64_t, T*, std::int64_t, std::int64_t*, const Options&);           \
  template void getrs(Op, std::int64_t, std::int64_t, const T*, std::int64_t, const std::int64_t*, T*, std::int64_t,  \
                      const Options&);                                                                                \
  template std::int64_t gesv(std::int64_t, std::int64_t, T*, std::int64_t, std::int64_t*, T*, std::int64_t,           \
                             const Options&);                                                                         \
  template SolveReport solve(Op, std::int64_t, std::int64_t, const T*, std::int64_t, const T*, std::int64_t, T*,      \
                             std::int64_t, const SolveOptions&, void*);                                               \
  template std::int64_t potrf(Uplo, std::int64_t, T*, std::int64_t, const Options&);                                  \
  template void potrs(Uplo, std::int64_t, std::int64_t, const T*, std::int64_t, T*, std::int64_t, const Options&);    \
  template std::int64_t posv(Uplo, std::int64_t, std::int64_t, T*, std::int64_t, T*, std::int64_t, const Options&);   \
  template SolveReport solve_definite(Uplo, std::int64_t, std::int64_t, const T*, std::int64_t, const T*,             \
                                      std::int64_t, T*, std::int64_t, const SolveOptions&, void*);                    \
  template bool has_factors<T>(std::int64_t);                                                                         \
  template std::int64_t factor_for_the_host(std::int64_t, std::int64_t, T*, std::int64_t, std::vector<std::int64_t>&, \
                                            const Options&);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
#undef VERNIER_INSTANTIATE

}  // namespace vernier::cuda

#endif
