#include "native.hpp"

#include <cblas.h>
#include <dlfcn.h>
#include <omp.h>
#include <sched.h>

#include <complex>
#include <fstream>
#include <limits>
#include <type_traits>
#include <vector>

namespace vernier::cli {
namespace {

int blas_int(std::int64_t value) {
  if (value <= std::numeric_limits<int>::max()) return static_cast<int>(value);
  throw Error(Status::invalid_argument, "the native BLAS takes sizes below 2^31 only: use --baseline none");
}

CBLAS_TRANSPOSE transpose(Op op) {
  return op == Op::none ? CblasNoTrans : op == Op::transpose ? CblasTrans : CblasConjTrans;
}

}  // namespace

template <class T>
void native_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda,
                 const T* b, std::int64_t ldb, T* c, std::int64_t ldc) {
  const auto call = [&](auto* routine, auto one, auto zero) {
    routine(CblasColMajor, transpose(opa), transpose(opb), blas_int(m), blas_int(n), blas_int(k), one, a, blas_int(lda),
            b, blas_int(ldb), zero, c, blas_int(ldc));
  };
  const T one = 1, zero = 0;
  if constexpr (std::is_same_v<T, float>) {
    call(&cblas_sgemm, one, zero);
  } else if constexpr (std::is_same_v<T, double>) {
    call(&cblas_dgemm, one, zero);
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    call(&cblas_cgemm, &one, &zero);
  } else {
    call(&cblas_zgemm, &one, &zero);
  }
}

#define VERNIER_INSTANTIATE(T)                                                                                     \
  template void native_gemm<T>(Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, std::int64_t, const T*, \
                               std::int64_t, T*, std::int64_t);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(std::complex<float>)
VERNIER_INSTANTIATE(std::complex<double>)
#undef VERNIER_INSTANTIATE

bool set_native_threads(int threads) {
  if (threads == 0) return true;
  for (const char* name : {"openblas_set_num_threads", "MKL_Set_Num_Threads"}) {
    if (void* symbol = dlsym(RTLD_DEFAULT, name)) {
      reinterpret_cast<void (*)(int)>(symbol)(threads);
      return true;
    }
  }
  return false;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos)
      return line.substr(line.find_first_not_of(" \t", colon + 1));
  }
  return "unknown";
}

void pin_threads(int threads) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  std::vector<int> processors;
  for (int p = 0; p < CPU_SETSIZE; ++p) {
    if (CPU_ISSET(p, &allowed)) processors.push_back(p);
  }
#pragma omp parallel num_threads(threads)
  {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(processors[static_cast<std::size_t>(omp_get_thread_num()) % processors.size()], &own);
    sched_setaffinity(0, sizeof own, &own);
  }
}

}  // namespace vernier::cli
