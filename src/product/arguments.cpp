#include "product/arguments.hpp"

#include <cmath>
#include <utility>

#include "number/moduli.hpp"

namespace vernier {
namespace {

constexpr std::int64_t largest_dimension = std::int64_t{1} << 40, largest_area = std::int64_t{1} << 47;

// Of the product of all moduli.
int integer_bits() {
  double bits = 0;
  for (const int p : moduli) bits += std::log2(p);
  return static_cast<int>(bits);
}

}  // namespace

void check_contract(const char* routine, const Contract& c) {
  using Kind = Contract::Kind;
  require(c.kind >= Kind::fp32 && c.kind <= Kind::exact, "{}: contract: unknown kind {}", routine,
          static_cast<int>(c.kind));
  require(c.rounding >= Rounding::nearest && c.rounding <= Rounding::toward_zero, "{}: contract: unknown rounding {}",
          routine, static_cast<int>(c.rounding));
  if (c.rounding != Rounding::nearest && c.kind != Kind::exact)
    fail(Status::invalid_argument,
         "{}: contract {}: only contract exact rounds in a direction; expected Rounding::nearest", routine, c.text());
  const int n = c.bits_asked;
  if (c.kind == Kind::bits || c.kind == Kind::normwise)
    require(n >= 4 && n <= 110, "{}: contract: bits({}): expected a number from 4 to 110", routine, n);
  else if (n != (c.kind == Kind::exact  ? Contract::exact()
                 : c.kind == Kind::fp32 ? Contract::fp32()
                                        : Contract::fp64())
                    .bits_asked)
    fail(Status::invalid_argument, "{}: contract: bits_asked = {} does not belong to {}", routine, n, c.text());
}

void fail_exact_factors(const char* where) {
  fail(Status::unsupported, "gemm: contract exact: for complex matrices it is kept where alpha and beta are {}real",
       where);
}

void check_options(const char* routine, const Options& o) {
  check_contract(routine, o.contract);
  require(o.threads >= 0, "{}: threads = {}: expected 0 or more", routine, o.threads);
  require(o.workspace != nullptr || o.workspace_bytes == 0,
          "{}: workspace is null, workspace_bytes = {}: expected both or neither", routine, o.workspace_bytes);
}

void check_dimension(const char* routine, const char* name, std::int64_t value) {
  require(value >= 0, "{}: {} = {}: expected 0 or more", routine, name, value);
  require(value <= largest_dimension, "{}: {} = {}: expected at most 2^40", routine, name, value);
}

void check_area(const char* routine, std::int64_t rows, std::int64_t columns) {
  require(rows == 0 || columns <= largest_area / rows,
          "{}: a matrix of {} x {} elements: expected at most 2^47, more than memory holds", routine, rows, columns);
}

void check_leading(const char* routine, const char* name, std::int64_t value, std::int64_t rows) {
  const std::int64_t least = rows > 1 ? rows : 1;
  require(value >= least, "{}: {} = {}: expected at least {}", routine, name, value, least);
  require(value <= largest_dimension, "{}: {} = {}: expected at most 2^40", routine, name, value);
}

void check_pointer(const char* routine, const char* name, bool read, const void* pointer) {
  require(!read || pointer != nullptr, "{}: {} is null", routine, name);
}

void check_operands(const char* routine, bool read, const void* A, const void* B) {
  for (const auto& [name, pointer] : {std::pair{"A", A}, {"B", B}}) check_pointer(routine, name, read, pointer);
}

void check_shape(const char* routine, Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k) {
  for (const auto& [name, op] : {std::pair{"opa", opa}, {"opb", opb}})
    require(valid(op), "{}: {} = {}: expected none, transpose or conjugate_transpose", routine, name,
            static_cast<int>(op));
  check_dimension(routine, "m", m);
  check_dimension(routine, "n", n);
  check_dimension(routine, "k", k);
  check_area(routine, m, k);
  check_area(routine, k, n);
  check_area(routine, m, n);
}

void check_sizes(const char* routine, Op opa, Op opb, const ProductShape& s, std::int64_t lda, std::int64_t ldb,
                 std::int64_t ldc) {
  check_shape(routine, opa, opb, s.m, s.n, s.k);
  check_leading(routine, "lda", lda, opa == Op::none ? s.m : s.k);
  check_leading(routine, "ldb", ldb, opb == Op::none ? s.k : s.n);
  check_leading(routine, "ldc", ldc, s.m);
}

void fail_beyond_scheme(const Contract& contract, int span_a, int span_b) {
  fail(
      Status::bound_not_met,
      "the exponents of the data are too wide for contract {}: spans up to {} in a row of op(A) and {} in a column "
      "of op(B), and the integer scheme holds at most {} bits in all; expected contract exact, which serves any data{}",
      contract.text(), span_a, span_b, integer_bits(), contract.reproducible ? ", or one without +reproducible" : "");
}

}  // namespace vernier
