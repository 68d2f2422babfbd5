// Products with prepared operands on a GPU: those of cuda::gemm by residues, with planes that are there. Products that
// are not regular are handed to it, with the operand's copy.
#include <algorithm>
#include <chrono>

#include "blas/arguments.hpp"
#include "blas/prepared_arguments.hpp"
#include "blas/prepared_run_cuda.hpp"

namespace vernier::cuda {
namespace {

template <class T>
DeviceFactor<T> factor(const T* x, PointerMode mode) {
  return mode == PointerMode::host ? DeviceFactor<T>{.value = *x} : DeviceFactor<T>{.in_device_memory = x};
}

// The arguments are checked but for those of gemm itself.
template <class T>
PreparedReport multiply(const PreparedFactor<T>& a, const PreparedFactor<T>& b, const ProductShape& s, const T* alpha,
                        const T* beta, T* C, std::int64_t ldc, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const CaptureTolerance tolerance;
  require(alpha != nullptr, "gemm: alpha is null");
  require(beta != nullptr, "gemm: beta is null");
  check_contract("gemm", options.contract);
  const bool host = options.pointer_mode == PointerMode::host;
  const bool reads = s.m > 0 && s.n > 0 && s.k > 0 && !(host && *alpha == 0);
  PreparedReport report;
  Options own = options;
  own.engine = (a.prepared != nullptr ? a.prepared : b.prepared)->engine;
  if (reads) {
    check_pointer("gemm", "A", true, a.x.data);
    check_pointer("gemm", "B", true, b.x.data);
    check_pointer("gemm", "C", true, C);
    check_capture(options.contract, static_cast<cudaStream_t>(options.stream));
    const DeviceResidueProblem<T> problem{
        a.x, b.x, factor(alpha, options.pointer_mode), factor(beta, options.pointer_mode), C, ldc};
    if (!PreparedRun<T>(a, b, problem, own).run(report)) {
      report = {};
      static_cast<Report&>(report) =
          gemm<T>(a.x.k_contiguous ? Op::transpose : Op::none, b.x.k_contiguous ? Op::none : Op::transpose, s.m, s.n,
                  s.k, alpha, a.x.data, a.x.ld, b.x.data, b.x.ld, beta, C, ldc, own);
    }
  } else {
    static_cast<Report&>(report) = gemm<T>(Op::none, Op::none, s.m, s.n, 0, alpha, nullptr,
                                           std::max<std::int64_t>(s.m, 1), nullptr, 1, beta, C, ldc, own);
    report.plan.k = s.k;
  }
  report.plan.reason = prepared_reason(a.prepared != nullptr, b.prepared != nullptr, own.engine);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

template <class T>
void check_here(const char* name, const PreparedOperand<T>& x) {
  const int device = current_device().number;
  require(x.device() == device, "gemm: {} was prepared on device {}; expected device {}, which is current", name,
          x.device(), device);
}

}  // namespace

template <class T>
PreparedReport gemm(const PreparedOperand<T>& A, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha,
                    const T* B, std::int64_t ldb, const T* beta, T* C, std::int64_t ldc, const Options& options) {
  check_shape("gemm", Op::none, opb, m, n, k);
  check_leading("gemm", "ldb", ldb, opb == Op::none ? k : n);
  check_leading("gemm", "ldc", ldc, m);
  check_prepared("A", A, Side::left, m, k, options);
  check_here("A", A);
  return multiply<T>({&A.data(), A.data().copy}, {nullptr, columns_of(opb, B, n, k, ldb)}, {m, n, k}, alpha, beta, C,
                     ldc, options);
}

template <class T>
PreparedReport gemm(Op opa, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha,
                    const T* A, std::int64_t lda, const T* beta, T* C, std::int64_t ldc, const Options& options) {
  check_shape("gemm", opa, Op::none, m, n, k);
  check_leading("gemm", "lda", lda, opa == Op::none ? m : k);
  check_leading("gemm", "ldc", ldc, m);
  check_prepared("B", B, Side::right, k, n, options);
  check_here("B", B);
  return multiply<T>({nullptr, rows_of(opa, A, m, k, lda)}, {&B.data(), B.data().copy}, {m, n, k}, alpha, beta, C, ldc,
                     options);
}

template <class T>
PreparedReport gemm(const PreparedOperand<T>& A, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n,
                    std::int64_t k, const T* alpha, const T* beta, T* C, std::int64_t ldc, const Options& options) {
  check_shape("gemm", Op::none, Op::none, m, n, k);
  check_leading("gemm", "ldc", ldc, m);
  check_prepared("A", A, Side::left, m, k, options);
  check_prepared("B", B, Side::right, k, n, options);
  check_here("A", A);
  check_here("B", B);
  require(A.engine() == B.engine(), "gemm: A was prepared for engine {}, B for {}; expected the same", A.engine(),
          B.engine());
  return multiply<T>({&A.data(), A.data().copy}, {&B.data(), B.data().copy}, {m, n, k}, alpha, beta, C, ldc, options);
}

#define VERNIER_INSTANTIATE(T)                                                                                    \
  template PreparedReport gemm(const PreparedOperand<T>&, Op, std::int64_t, std::int64_t, std::int64_t, const T*, \
                               const T*, std::int64_t, const T*, T*, std::int64_t, const Options&);               \
  template PreparedReport gemm(Op, const PreparedOperand<T>&, std::int64_t, std::int64_t, std::int64_t, const T*, \
                               const T*, std::int64_t, const T*, T*, std::int64_t, const Options&);               \
  template PreparedReport gemm(const PreparedOperand<T>&, const PreparedOperand<T>&, std::int64_t, std::int64_t,  \
                               std::int64_t, const T*, const T*, T*, std::int64_t, const Options&);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
#undef VERNIER_INSTANTIATE

}  // namespace vernier::cuda
