#include "blas/offload/kept.hpp"

#include <type_traits>

#include "base/instantiate.hpp"
#include "blas/prepared_run.hpp"
#include "residue/gemm_cuda.hpp"

namespace vernier::cuda {
namespace {

template <class T>
Report plain_gemm(const GemmCall<T>& x, const Options& options) {
  return gemm<T>(x.opa, x.opb, x.m, x.n, x.k, &x.alpha, x.a, x.lda, x.b, x.ldb, &x.beta, x.c, x.ldc, options);
}

template <class T>
PreparedFactor<T> factor_of(Side side, const Operand<T>& x, const Options& options, KeptOperand& kept) {
  if (kept.wanted && kept.made == nullptr) kept.made = std::make_shared<const PreparedData<T>>(side, x, options);
  return {static_cast<const PreparedData<T>*>(kept.made.get()), x};
}

// False, with C untouched: the residues that are kept do not serve, or memory for them is not to be had.
template <class T>
bool multiply_keeping(const DeviceResidueProblem<T>& problem, const Options& options, KeptOperand& a, KeptOperand& b,
                      PreparedReport& report) {
  try {
    const PreparedFactor<T> rows = factor_of<T>(Side::left, problem.a, options, a);
    const PreparedFactor<T> columns = factor_of<T>(Side::right, problem.b, options, b);
    return PreparedRun<T>(rows, columns, int8_engine(options), problem, options).run(report);
  } catch (const Error& error) {
    if (error.status() != Status::out_of_memory) throw;
    return false;
  }
}

}  // namespace

template <class T>
std::size_t kept_bytes(std::int64_t vectors, std::int64_t k, const Contract& contract) {
  if (!std::is_same_v<T, double> || contract.kind == Contract::Kind::exact) return 0;
  const std::size_t of_residues =
      size_product({static_cast<std::size_t>(max_moduli), static_cast<std::size_t>(round_up(vectors, strip_size)),
                    static_cast<std::size_t>(device_pitch(k))});
  constexpr std::size_t of_vector = sizeof(VectorStatistics) + sizeof(int), pages = 6 * Arena::alignment;
  return size_sum(of_residues, size_sum(size_product({static_cast<std::size_t>(vectors), of_vector}), pages));
}

template <class T>
Report gemm_keeping(const GemmCall<T>& x, const Options& options, KeptOperand& a, KeptOperand& b) {
  if constexpr (std::is_same_v<T, double>) {
    if ((a.wanted || b.wanted) && x.alpha != 0) {
      const Plan plan = explain<T>(x.opa, x.opb, x.m, x.n, x.k, options);
      if (plan.scheme == "residues") {
        const DeviceResidueProblem<T> problem = problem_of<T>(
            {x.opa, x.opb, x.m, x.n, x.k, &x.alpha, x.a, x.lda, x.b, x.ldb, &x.beta, x.c, x.ldc}, PointerMode::host);
        PreparedReport report;
        if (multiply_keeping<T>(problem, options, a, b, report)) {
          report.plan.reason = plan.reason;
          return report;
        }
        a = b = {};
      }
    }
  }
  return plain_gemm(x, options);
}

VERNIER_TYPE_INSTANCES(kept_bytes, gemm_keeping)

}  // namespace vernier::cuda
