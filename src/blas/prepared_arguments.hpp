// What is asked of prepared operands, in any memory: when they are made, and by a product with one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/status.hpp"
#include "product/arguments.hpp"
#include "vernier/prepared.hpp"

namespace vernier {

// The arguments of preparing, before the options.
inline void check_preparation(Side side, Op op, std::int64_t rows, std::int64_t columns, const void* X,
                              std::int64_t ldx) {
  constexpr const char* routine = "PreparedOperand";
  require(side == Side::left || side == Side::right, "{}: side = {}: expected left or right", routine,
          static_cast<int>(side));
  require(valid(op), "{}: op = {}: expected none, transpose or conjugate_transpose", routine, static_cast<int>(op));
  for (const auto& [name, size] : {std::pair{"rows", rows}, {"columns", columns}}) check_dimension(routine, name, size);
  check_area(routine, rows, columns);
  check_leading(routine, "ldx", ldx, op == Op::none ? rows : columns);
  check_pointer(routine, "X", rows > 0 && columns > 0, X);
}

// After them: contract and engine.
inline void check_residues_asked(const Contract& contract, const std::string& engine) {
  require(engine != "native", "PreparedOperand: engine \"native\" has no residues; expected an int8 engine");
  if (contract.kind == Contract::Kind::exact)
    fail(Status::unsupported,
         "PreparedOperand: contract exact chooses its moduli by both factors; expected another contract");
}

// name: A or B; the product wants op(name) of rows x columns on that side.
template <class Prepared, class AnyOptions>
void check_prepared(const char* name, const Prepared& x, Side side, std::int64_t rows, std::int64_t columns,
                    const AnyOptions& options) {
  const auto text = [](Side s) { return s == Side::left ? "left" : "right"; };
  require(x.side() == side, "gemm: {} was prepared as the {} factor; expected the {} one", name, text(x.side()),
          text(side));
  require(x.rows() == rows && x.columns() == columns, "gemm: {} was prepared as {} x {}; expected {} x {}", name,
          x.rows(), x.columns(), rows, columns);
  require(x.contract() == options.contract, "gemm: {} was prepared for contract {}; expected {}", name,
          x.contract().text(), options.contract.text());
  require(options.engine.empty() || options.engine == x.engine(),
          "gemm: {} was prepared for engine {}; expected engine {}", name, x.engine(), options.engine);
}

// The arguments of products but for the options: with A prepared, with B, with both.
template <class Prepared, class AnyOptions>
void check_left_product(const Prepared& A, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t ldb,
                        std::int64_t ldc, const AnyOptions& options) {
  check_shape("gemm", Op::none, opb, m, n, k);
  check_leading("gemm", "ldb", ldb, opb == Op::none ? k : n);
  check_leading("gemm", "ldc", ldc, m);
  check_prepared("A", A, Side::left, m, k, options);
}

template <class Prepared, class AnyOptions>
void check_right_product(Op opa, const Prepared& B, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda,
                         std::int64_t ldc, const AnyOptions& options) {
  check_shape("gemm", opa, Op::none, m, n, k);
  check_leading("gemm", "lda", lda, opa == Op::none ? m : k);
  check_leading("gemm", "ldc", ldc, m);
  check_prepared("B", B, Side::right, k, n, options);
}

template <class Prepared, class AnyOptions>
void check_prepared_product(const Prepared& A, const Prepared& B, std::int64_t m, std::int64_t n, std::int64_t k,
                            std::int64_t ldc, const AnyOptions& options) {
  check_shape("gemm", Op::none, Op::none, m, n, k);
  check_leading("gemm", "ldc", ldc, m);
  check_prepared("A", A, Side::left, m, k, options);
  check_prepared("B", B, Side::right, k, n, options);
  require(A.engine() == B.engine(), "gemm: A was prepared for engine {}, B for {}; expected the same", A.engine(),
          B.engine());
}

// "A is prepared for engine amx"
inline std::string prepared_reason(bool a, bool b, const std::string& engine) {
  return fmt::format("{} prepared for engine {}", a && b ? "A and B are" : a ? "A is" : "B is", engine);
}

}  // namespace vernier

// Instantiates the products of prepared operands of T; Value: of alpha and beta.
#define VERNIER_PREPARED_PRODUCTS(T, Value)                                                                      \
  template PreparedReport gemm(const PreparedOperand<T>&, Op, std::int64_t, std::int64_t, std::int64_t, Value,   \
                               const T*, std::int64_t, Value, T*, std::int64_t, const Options&);                 \
  template PreparedReport gemm(Op, const PreparedOperand<T>&, std::int64_t, std::int64_t, std::int64_t, Value,   \
                               const T*, std::int64_t, Value, T*, std::int64_t, const Options&);                 \
  template PreparedReport gemm(const PreparedOperand<T>&, const PreparedOperand<T>&, std::int64_t, std::int64_t, \
                               std::int64_t, Value, Value, T*, std::int64_t, const Options&);
