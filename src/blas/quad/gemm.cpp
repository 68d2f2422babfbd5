// quad_gemm: arguments, and complex matrices as real ones.
#include "base/fmt.hpp"

#include <charconv>
#include <optional>
#include <vector>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "base/status.hpp"
#include "blas/plan.hpp"
#include "blas/quad/arguments.hpp"
#include "blas/quad/instantiate.hpp"
#include "blas/quad/scale.hpp"
#include "product/operand.hpp"
#include "residue/quad/dd_arithmetic.hpp"
#include "residue/quad/quad_gemm.hpp"

namespace vernier {
namespace {

constexpr const char* expected_contract =
    "dd, fp128, exact or bits(n) with n from 4 to 226; after exact +down, +up or +toward-zero";

std::optional<QuadContract> parse_quad(std::string_view text) {
  using Kind = QuadContract::Kind;
  if (text.empty()) return QuadContract{};
  if (text == "dd") return QuadContract{.kind = Kind::dd};
  if (text == "fp128") return QuadContract{.kind = Kind::fp128};
  if (text.starts_with("exact")) {
    try {
      const Contract exact = Contract::parse(text);
      if (exact == Contract::exact(exact.rounding))
        return QuadContract{.kind = Kind::exact, .rounding = exact.rounding};
    } catch (const Error&) {
    }
    return std::nullopt;
  }
  if (!text.starts_with("bits(") || !text.ends_with(")")) return std::nullopt;
  text = text.substr(5, text.size() - 6);
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < least_bits || n > most_bits) return std::nullopt;
  return QuadContract{.kind = Kind::bits, .bits_asked = n};
}

// op(X) of a complex matrix as a real one: rows [re -im; im re] of A, or columns [re; im] of B.
template <class T, class R = PartOf<T>>
std::vector<R> expanded(Op op, const T* x, std::int64_t rows, std::int64_t columns, std::int64_t ld, bool left) {
  std::vector<R> out(static_cast<std::size_t>((left ? 4 : 2) * rows * columns));
  const auto part = [](const T& z, bool imaginary) -> R {
    if constexpr (std::is_same_v<T, std::complex<double>>)
      return imaginary ? z.imag() : z.real();
    else
      return imaginary ? z.imag : z.real;
  };
  for (std::int64_t l = 0; l < columns; ++l)
    for (std::int64_t i = 0; i < rows; ++i) {
      const T& z = op == Op::none ? x[i + l * ld] : x[l + i * ld];
      const R re = part(z, false), im = op == Op::conjugate_transpose ? -part(z, true) : part(z, true);
      R* to = out.data() + 2 * i + (left ? 2 * l : l) * 2 * rows;
      to[0] = re, to[1] = im;
      if (left) to[2 * rows] = -im, to[2 * rows + 1] = re;
    }
  return out;
}

template <class TA, class TB, class TC>
void multiply(const Operand<TA>& A, const Operand<TB>& B, const Output<TC, double>& to, const QuadMachine& machine,
              const QuadContract& contract, QuadReport& report) {
  const QuadOperandOf<TA> a(A);
  const QuadOperandOf<TB> b(B);
  quad_product(QuadProblem<TC>{a, b, to.alpha, to.beta, to.c, to.ldc, goal_of<TC>(contract), contract.rounding},
               machine, report);
}

}  // namespace

QuadContract QuadContract::parse(std::string_view text) {
  const std::optional<QuadContract> contract = parse_quad(text);
  require(contract.has_value(), "contract \"{}\": expected {}", text, expected_contract);
  return *contract;
}

std::string QuadContract::text() const {
  switch (kind) {
    case Kind::by_type:
      return "";
    case Kind::dd:
      return "dd";
    case Kind::fp128:
      return "fp128";
    case Kind::bits:
      return fmt::format("bits({})", bits_asked);
    case Kind::exact:
      break;
  }
  return Contract::exact(rounding).text();
}

template <class TA, class TB, class TC>
QuadReport quad_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const TA* A,
                     std::int64_t lda, const TB* B, std::int64_t ldb, double beta, TC* C, std::int64_t ldc,
                     const QuadOptions& options) {
  const Clock clock;
  const QuadCallArguments<TC> arguments{opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc};
  QuadReport report = checked_quad_call(arguments, options);
  PartOf<TC>* const c = parts_of(C);
  constexpr std::int64_t parts = parts_of_entry<TC>;
  if (reads_operands(arguments)) {
    const int threads = usable_threads(options.threads);
    constexpr std::size_t bytes_of_planes = 24;  // half of those an element of A, B or C has: one for each modulus
    const std::size_t limit = options.workspace_limit != 0
                                  ? options.workspace_limit
                                  : default_limit({parts * m, n, parts * k}, bytes_of_planes, threads);
    const QuadMachine machine{find_int8_engine(options.engine), threads, limit};
    report.engine = machine.engine.name(), report.threads = machine.threads;
    const Output<PartOf<TC>, double> to{alpha, beta, c, parts * ldc};
    if constexpr (is_complex_entry<TC>) {
      const auto a = expanded(opa, A, m, k, lda, true);
      const auto b = expanded(opb, B, k, n, ldb, false);
      multiply(rows_of(Op::none, a.data(), 2 * m, 2 * k, 2 * m), columns_of(Op::none, b.data(), n, 2 * k, 2 * k), to,
               machine, options.contract, report);
    } else {
      multiply(rows_of(opa, A, m, k, lda), columns_of(opb, B, n, k, ldb), to, machine, options.contract, report);
    }
  } else {
    scale_quad(parts * m, n, beta, c, parts * ldc, options.contract);
  }
  report.seconds = clock.seconds();
  return report;
}

VERNIER_INSTANTIATE_QUAD_GEMM()
#if defined(__SIZEOF_FLOAT128__)
VERNIER_INSTANTIATE_BINARY128_GEMM()
#endif

}  // namespace vernier
