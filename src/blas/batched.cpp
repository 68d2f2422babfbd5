// Batches of products of one shape: many small ones side by side, or large ones one after the other.
#include <exception>
#include <mutex>
#include <new>

#include "base/instantiate.hpp"
#include "blas/level3/routine.hpp"
#include "product/native/native.hpp"
#include "product/plan/method.hpp"

namespace vernier {
namespace {

// Operations of a product from which all threads work on one: the stages of a product then outweigh their barriers.
constexpr double large_product = 2.0 * 256 * 256 * 256;

// call: of a product, without its matrices.
template <class T>
struct Batch {
  const char* routine;
  GemmCall<T> call;
  std::int64_t count;
  const Options& options;
};

template <class T>
void check(const Batch<T>& batch) {
  check_call(batch.routine, batch.call);
  check_dimension(batch.routine, "count", batch.count);
  check_routine_options(batch.routine, batch.options);
}

template <class T>
bool reads(const GemmCall<T>& p) {
  return p.m > 0 && p.n > 0 && p.k > 0 && p.alpha != T{0};
}

// A product of the batch. Others may be written: without memory the BLAS underneath makes it, where that keeps the
// contract.
template <class T>
Report multiply(GemmCall<T> p, const T* a, const T* b, T* c, const Options& options) {
  p.a = a, p.b = b, p.c = c;
  try {
    return gemm<T>(p.opa, p.opb, p.m, p.n, p.k, p.alpha, a, p.lda, b, p.ldb, p.beta, c, p.ldc, options);
  } catch (const std::bad_alloc&) {
    if (!reads(p) || native_use<T>(options.contract) == NativeUse::never) throw;
  } catch (const Error& error) {
    if (error.status() != Status::out_of_memory || !reads(p) || native_use<T>(options.contract) == NativeUse::never)
      throw;
  }
  native_gemm(p, options.threads);
  Report report;  // of words that need no memory
  report.plan.scheme = "native";
  report.plan.m = p.m, report.plan.n = p.n, report.plan.k = p.k;
  report.fallback = true;
  return report;
}

// product(i, options) for every i, and one report. The first exception is thrown when all threads are done.
template <class T, class Multiply>
Report run(const Batch<T>& batch, Multiply product) {
  const GemmCall<T>& p = batch.call;
  RoutineReport report(batch.routine);
  const double operations = 2 * ProductShape{p.m, p.n, std::max<std::int64_t>(p.k, 1)}.multiplications();
  const int threads = usable_threads(batch.options.threads);
  Options single = inner_options(batch.options);
  if (batch.count == 0 || p.m == 0 || p.n == 0)  // however many there are
    return report.finished(explain<T>(p.opa, p.opb, p.m, p.n, 0, batch.options));
  if (threads == 1 || operations >= large_product || batch.count < threads) {
    for (std::int64_t i = 0; i < batch.count; ++i) report.add(product(i, single));
    return report.finished();
  }
  single.threads = 1;
  std::mutex mutex;
  std::exception_ptr error;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::int64_t i = 0; i < batch.count; ++i) {
    try {
      Report part = product(i, single);
      const std::lock_guard lock(mutex);
      report.add(std::move(part));
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
  return report.finished();
}

}  // namespace

template <class T>
Report gemm_batched(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* const* A,
                    std::int64_t lda, const T* const* B, std::int64_t ldb, Scalar<T> beta, T* const* C,
                    std::int64_t ldc, std::int64_t count, const Options& options) {
  const RoutineMode mode;
  const Batch<T> batch{
      "gemm_batched", {opa, opb, m, n, k, alpha, nullptr, lda, nullptr, ldb, beta, nullptr, ldc}, count, options};
  check(batch);
  const bool any = reads(batch.call) && count > 0;
  check_operands("gemm_batched", any, A, B);
  check_pointer("gemm_batched", "C", m > 0 && n > 0 && count > 0, C);
  for (std::int64_t i = 0; m > 0 && n > 0 && i < count; ++i)
    require((!any || (A[i] != nullptr && B[i] != nullptr)) && C[i] != nullptr,
            "gemm_batched: a matrix of product {} is null", i);
  return run(batch, [&](std::int64_t i, const Options& single) {
    return multiply<T>(batch.call, any ? A[i] : nullptr, any ? B[i] : nullptr, C[i], single);
  });
}

template <class T>
Report gemm_strided_batched(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
                            std::int64_t lda, std::int64_t stride_a, const T* B, std::int64_t ldb,
                            std::int64_t stride_b, Scalar<T> beta, T* C, std::int64_t ldc, std::int64_t stride_c,
                            std::int64_t count, const Options& options) {
  const RoutineMode mode;
  constexpr const char* routine = "gemm_strided_batched";
  const Batch<T> batch{
      routine, {opa, opb, m, n, k, alpha, nullptr, lda, nullptr, ldb, beta, nullptr, ldc}, count, options};
  check(batch);
  const bool any = reads(batch.call) && count > 0, writes = m > 0 && n > 0 && count > 0;
  check_operands(routine, any, A, B);
  check_pointer(routine, "C", writes, C);
  // Columns of several C may interleave; what is refused is the plain mistake.
  require(!writes || count == 1 || stride_c >= m || stride_c <= -m, "{}: stride_c = {}: expected at least m = {}",
          routine, stride_c, m);
  return run(batch, [&](std::int64_t i, const Options& single) {
    return multiply<T>(batch.call, any ? A + i * stride_a : nullptr, any ? B + i * stride_b : nullptr, C + i * stride_c,
                       single);
  });
}

VERNIER_TYPE_INSTANCES(gemm_batched, gemm_strided_batched)

}  // namespace vernier
