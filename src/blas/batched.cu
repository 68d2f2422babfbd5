// Batches on a GPU: products of one shape, all at once where they are float or native, many at once by residues, else
// one after the other.
#include <vector>

#include "blas/choice.hpp"
#include "blas/level3/routine_cuda.hpp"
#include "blas/level3/routines.hpp"
#include "residue/gemm_cuda.hpp"

namespace vernier::cuda {
namespace {

// call: of a product, without its matrices.
template <class T>
struct Batch {
  const char* routine;
  DeviceGemmCall<T> call;
  std::int64_t count;
  const Options& options;
};

template <class T>
void check_batch(const Batch<T>& batch) {
  check_call(batch.routine, batch.call);
  check_dimension(batch.routine, "count", batch.count);
  require(batch.call.alpha != nullptr, "{}: alpha is null", batch.routine);
  require(batch.call.beta != nullptr, "{}: beta is null", batch.routine);
}

template <class T>
bool reads(const Batch<T>& p) {
  return p.count > 0 && reads_operands(p.call, p.options);
}

// addresses(i): the three matrices of product i.
template <class T, class Addresses>
void add_one_by_one(const Batch<T>& batch, std::int64_t first, std::int64_t end, Addresses addresses,
                    RoutineReport& report) {
  const DeviceGemmCall<T>& p = batch.call;
  Options options = batch.options;
  options.outcome = nullptr;  // one would not tell what became of all
  for (std::int64_t i = first; i < end; ++i) {
    const auto [a, b, c] = addresses(i);
    report.add(gemm<T>(p.opa, p.opb, p.m, p.n, p.k, p.alpha, a, p.lda, b, p.ldb, p.beta, c, p.ldc, options));
  }
}

template <class T, class Addresses>
Report run(const Batch<T>& p, Addresses addresses) {
  RoutineReport report(p.routine);
  if (p.count == 0 || p.call.m == 0 || p.call.n == 0)  // however many there are
    return report.finished(explain<T>(p.call.opa, p.call.opb, p.call.m, p.call.n, 0, p.options));
  add_one_by_one<T>(p, 0, p.count, addresses, report);
  return report.finished();
}

template <class T>
struct Addresses {
  const T *a, *b;
  T* c;
};

template <class P>
std::vector<P> addresses_on_host(const P* array, std::int64_t count, cudaStream_t stream) {
  std::vector<P> host(static_cast<std::size_t>(count));
  check(cudaMemcpyAsync(host.data(), array, host.size() * sizeof(P), cudaMemcpyDeviceToHost, stream),
        "addresses of a batch");
  return host;
}

// As matrices that were allocated together are.
template <class P>
bool equally_far(const std::vector<P>& addresses) {
  const auto at = [&](std::size_t i) { return reinterpret_cast<std::intptr_t>(addresses[i]); };
  for (std::size_t i = 1; i < addresses.size(); ++i)
    if (at(i) - at(i - 1) != at(1) - at(0)) return false;
  return addresses.size() < 2 || (at(1) - at(0)) % static_cast<std::intptr_t>(sizeof(*addresses[0])) == 0;
}

}  // namespace

template <class T>
Report gemm_batched(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* const* A,
                    std::int64_t lda, const T* const* B, std::int64_t ldb, const T* beta, T* const* C, std::int64_t ldc,
                    std::int64_t count, const Options& options) {
  const RoutineMode mode;
  const Batch<T> p{
      "gemm_batched", {opa, opb, m, n, k, alpha, nullptr, lda, nullptr, ldb, beta, nullptr, ldc}, count, options};
  check_batch(p);
  const bool any = count > 0 && m > 0 && n > 0, read = reads(p);
  check_operands(p.routine, read, A, B);
  check_pointer(p.routine, "C", any, C);
  if (!any) return run<T>(p, [](std::int64_t) { return Addresses<T>{}; });
  std::string routine = p.routine;  // longer than a string holds without memory
  Report native;
  if (gemm_addressed_natively<T>({{opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, count}, options, native)) {
    native.plan.routine = std::move(routine);
    return native;
  }
  const cudaStream_t stream = stream_of(options);
  if (capturing(stream))
    fail(Status::unsupported, "gemm_batched: the addresses are not known in a stream that is being captured");
  std::vector<const T*> a(static_cast<std::size_t>(count)), b = a;
  if (read) a = addresses_on_host(A, count, stream), b = addresses_on_host(B, count, stream);
  const std::vector<T*> c = addresses_on_host(C, count, stream);
  check(cudaStreamSynchronize(stream), "addresses of a batch");
  for (std::size_t i = 0; i < c.size(); ++i)
    require((!read || (a[i] != nullptr && b[i] != nullptr)) && c[i] != nullptr,
            "gemm_batched: a matrix of product {} is null", i);
  if (read && equally_far(a) && equally_far(b) && equally_far(c)) {
    const auto stride = [&](const auto& array) { return count > 1 ? array[1] - array[0] : 0; };
    Report report = gemm_strided_batched<T>(opa, opb, m, n, k, alpha, a[0], lda, stride(a), b[0], ldb, stride(b), beta,
                                            c[0], ldc, stride(c), count, options);
    report.plan.routine = std::move(routine);
    return report;
  }
  return run<T>(p, [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return Addresses<T>{a[at], b[at], c[at]};
  });
}

template <class T>
Report gemm_strided_batched(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* A,
                            std::int64_t lda, std::int64_t stride_a, const T* B, std::int64_t ldb,
                            std::int64_t stride_b, const T* beta, T* C, std::int64_t ldc, std::int64_t stride_c,
                            std::int64_t count, const Options& options) {
  const RoutineMode mode;
  const Batch<T> p{"gemm_strided_batched",
                   {opa, opb, m, n, k, alpha, nullptr, lda, nullptr, ldb, beta, nullptr, ldc},
                   count,
                   options};
  check_batch(p);
  const bool read = reads(p);
  check_operands(p.routine, read, A, B);
  check_pointer(p.routine, "C", count > 0 && m > 0 && n > 0, C);
  std::string routine = p.routine;  // longer than a string holds without memory
  Report report;
  StridedBatch<T> group{{opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, stride_a, stride_b, stride_c, count};
  if (gemm_at_once<T>(group, options, report)) {
    report.plan.routine = std::move(routine);
    return report;
  }
  const auto addresses = [&](std::int64_t i) {
    return Addresses<T>{A + i * stride_a, B + i * stride_b, C + i * stride_c};
  };
  if constexpr (!is_complex<T>) {
    if (const std::int64_t size = residue_batch_size<T>(group, options); size > 0) {
      RoutineReport groups(p.routine);
      for (std::int64_t first = 0; first < count; first += size) {
        const auto [a, b, c] = addresses(first);
        group.first.a = a, group.first.b = b, group.first.c = c;
        group.count = std::min(size, count - first);
        Report done;
        if (residue_batch<T>(group, options, done))
          groups.add(std::move(done));
        else
          add_one_by_one<T>(p, first, first + group.count, addresses, groups);
      }
      return groups.finished();
    }
  }
  return run<T>(p, addresses);
}

VERNIER_FOR_ALL(VERNIER_CUDA_BATCHES, VERNIER_INSTANTIATION)

}  // namespace vernier::cuda
