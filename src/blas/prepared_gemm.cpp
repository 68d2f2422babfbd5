// Products with prepared operands: those of gemm by residues, with planes that are there.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "blas/arguments.hpp"
#include "blas/native.hpp"
#include "blas/prepared_arguments.hpp"
#include "blas/prepared_operand.hpp"
#include "blas/residue_gemm.hpp"

namespace vernier {
namespace {

// The operand that native_gemm takes.
template <class T>
Op op_of_rows(const Operand<T>& a) {
  return a.k_contiguous ? Op::transpose : Op::none;
}
template <class T>
Op op_of_columns(const Operand<T>& b) {
  return b.k_contiguous ? Op::none : Op::transpose;
}

template <class T>
struct Factors {
  const PreparedData<T>*prepared_a, *prepared_b;  // null: not prepared
  Operand<T> a, b;                                // then these are the caller's
};

template <class T>
void multiply(const Factors<T>& f, const ProductShape& s, T alpha, T beta, T* C, std::int64_t ldc,
              const Options& options, PreparedReport& report) {
  const PreparedData<T>& any = f.prepared_a != nullptr ? *f.prepared_a : *f.prepared_b;
  Options own = options;
  own.engine = any.engine;
  ProductPlan plan =
      with_prepared(plan_product<T>(s, own), {f.prepared_a != nullptr, f.prepared_b != nullptr, any.planes.k_block});
  plan.printable.reason = prepared_reason(f.prepared_a != nullptr, f.prepared_b != nullptr, any.engine);
  report.plan = plan.printable;
  bool planes_read = false;
  ResidueProblem<T> problem{f.prepared_a != nullptr ? f.prepared_a->copy : f.a,
                            f.prepared_b != nullptr ? f.prepared_b->copy : f.b,
                            alpha,
                            beta,
                            C,
                            ldc};
  if (f.prepared_a != nullptr) problem.prepared_a = &f.prepared_a->planes;
  if (f.prepared_b != nullptr) problem.prepared_b = &f.prepared_b->planes;
  problem.prepared_planes_read = &planes_read;
  if (!residue_gemm(plan, problem, own, report)) {
    report.plan.scheme = "native";
    report.plan.engine = native_name();
    report.plan.moduli = 0;
    native_gemm(op_of_rows(problem.a), op_of_columns(problem.b), s.m, s.n, s.k, alpha, problem.a.data, problem.a.ld,
                problem.b.data, problem.b.ld, beta, C, ldc, options.threads);
    return;
  }
  report.prepared_a = planes_read && plan.ordinary.prepared.a;
  report.prepared_b = planes_read && plan.ordinary.prepared.b;
}

// The arguments are checked but for those of gemm itself.
template <class T>
PreparedReport run(const Factors<T>& f, const ProductShape& s, T alpha, T beta, T* C, std::int64_t ldc,
                   const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  PreparedReport report;
  const bool reads = alpha != 0 && s.k > 0 && s.m > 0 && s.n > 0;
  if (reads) {
    check_pointer("gemm", "A", f.prepared_a == nullptr, f.a.data);
    check_pointer("gemm", "B", f.prepared_b == nullptr, f.b.data);
    check_pointer("gemm", "C", true, C);
    multiply(f, s, alpha, beta, C, ldc, options, report);
  } else {
    static_cast<Report&>(report) = gemm<T>(Op::none, Op::none, s.m, s.n, 0, alpha, nullptr,
                                           std::max<std::int64_t>(s.m, 1), nullptr, 1, beta, C, ldc, options);
    report.plan.k = s.k;
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace

template <class T>
PreparedReport gemm(const PreparedOperand<T>& A, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                    const T* B, std::int64_t ldb, T beta, T* C, std::int64_t ldc, const Options& options) {
  check_shape("gemm", Op::none, opb, m, n, k);
  check_leading("gemm", "ldb", ldb, opb == Op::none ? k : n);
  check_leading("gemm", "ldc", ldc, m);
  check_options("gemm", options);
  check_prepared("A", A, Side::left, m, k, options);
  return run<T>({&A.data(), nullptr, {}, columns_of(opb, B, n, k, ldb)}, {m, n, k}, alpha, beta, C, ldc, options);
}

template <class T>
PreparedReport gemm(Op opa, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                    const T* A, std::int64_t lda, T beta, T* C, std::int64_t ldc, const Options& options) {
  check_shape("gemm", opa, Op::none, m, n, k);
  check_leading("gemm", "lda", lda, opa == Op::none ? m : k);
  check_leading("gemm", "ldc", ldc, m);
  check_options("gemm", options);
  check_prepared("B", B, Side::right, k, n, options);
  return run<T>({nullptr, &B.data(), rows_of(opa, A, m, k, lda), {}}, {m, n, k}, alpha, beta, C, ldc, options);
}

template <class T>
PreparedReport gemm(const PreparedOperand<T>& A, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n,
                    std::int64_t k, T alpha, T beta, T* C, std::int64_t ldc, const Options& options) {
  check_shape("gemm", Op::none, Op::none, m, n, k);
  check_leading("gemm", "ldc", ldc, m);
  check_options("gemm", options);
  check_prepared("A", A, Side::left, m, k, options);
  check_prepared("B", B, Side::right, k, n, options);
  require(A.engine() == B.engine(), "gemm: A was prepared for engine {}, B for {}; expected the same", A.engine(),
          B.engine());
  return run<T>({&A.data(), &B.data(), {}, {}}, {m, n, k}, alpha, beta, C, ldc, options);
}

std::string PreparedReport::text() const {
  std::string out = Report::text();
  if (plan.scheme == "residues")
    out += fmt::format("  prepared   {}\n", prepared_a && prepared_b ? "residues of A and B"
                                            : prepared_a             ? "residues of A"
                                            : prepared_b             ? "residues of B"
                                                                     : "residues were not of use");
  return out;
}

std::string PreparedReport::json() const {
  auto j = nlohmann::ordered_json::parse(Report::json());
  j["prepared_a"] = prepared_a;
  j["prepared_b"] = prepared_b;
  return j.dump();
}

#define VERNIER_INSTANTIATE(T)                                                                                       \
  template PreparedReport gemm(const PreparedOperand<T>&, Op, std::int64_t, std::int64_t, std::int64_t, T, const T*, \
                               std::int64_t, T, T*, std::int64_t, const Options&);                                   \
  template PreparedReport gemm(Op, const PreparedOperand<T>&, std::int64_t, std::int64_t, std::int64_t, T, const T*, \
                               std::int64_t, T, T*, std::int64_t, const Options&);                                   \
  template PreparedReport gemm(const PreparedOperand<T>&, const PreparedOperand<T>&, std::int64_t, std::int64_t,     \
                               std::int64_t, T, T, T*, std::int64_t, const Options&);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
#undef VERNIER_INSTANTIATE

}  // namespace vernier
