// Prepared operands: a matrix whose residues are made once, for many products with it.
//
//     #include <vernier/prepared.hpp>
//     const vernier::PreparedOperand<double> prepared(vernier::Side::left, vernier::Op::none, m, k, A, lda);
//     for (...) vernier::gemm(prepared, vernier::Op::none, m, n, k, 1.0, B, ldb, 0.0, C, ldc);
//
// The object owns a copy of the matrix and its residues, so later changes to A have no effect:
//
//     m k (sizeof(T) + moduli) bytes, in whole strips, steps and pages (docs/calls.md)
//
// It never changes; many threads, on a GPU many streams, may use it at once, and its copies share its memory. Contract,
// engine, T and on a GPU the device are fixed. C has the bits of the unprepared product by residues on any engine, but
// not of speculative products (docs/calls.md). Contract exact is unsupported.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "vernier/cuda.hpp"
#include "vernier/level3.hpp"

namespace vernier {

// What an operand was prepared for, and holds.
struct PreparedFacts {
  Side side = Side::left;
  std::int64_t rows = 0, columns = 0;  // of op(X)
  Contract contract = {};
  std::string engine = {};
  int moduli = 0;         // of the residues held
  std::size_t bytes = 0;  // held, the copy included
  int device = 0;         // on a GPU
  bool strassen = false;  // on a GPU: are the residues those of Strassen-Winograd?
};

// What prepared operands on CPUs and GPUs tell of themselves.
class AnyPreparedOperand {
 public:
  Side side() const { return facts_->side; }
  std::int64_t rows() const { return facts_->rows; }
  std::int64_t columns() const { return facts_->columns; }
  const Contract& contract() const { return facts_->contract; }
  const std::string& engine() const { return facts_->engine; }
  int moduli() const { return facts_->moduli; }
  std::size_t bytes() const { return facts_->bytes; }

 protected:
  explicit AnyPreparedOperand(std::shared_ptr<const PreparedFacts> facts) : facts_(std::move(facts)) {}

  std::shared_ptr<const PreparedFacts> facts_;
};

template <class T>
struct PreparedData;  // facts, and what is held

// T is float, double, std::complex<float> or std::complex<double>. Complex matrices are kept as real ones of twice the
// rows and columns, [Re -Im; Im Re]: four times the memory, and 4/3 of the products of gemm itself. Where alpha and
// beta are complex numbers the product takes memory for m n numbers of its own.
// With op(B) alone prepared, bits of wide data are gemm's under reproducible contracts only.
template <class T>
class VERNIER_API PreparedOperand : public AnyPreparedOperand {
 public:
  // For products op(X) B (left) or A op(X) (right).
  //
  //   op(X)  rows x columns; X is ldx x columns with ldx >= max(1, rows) for Op::none, ldx x rows with
  //          ldx >= max(1, columns) otherwise; read here, and not afterwards
  //
  // options: contract, engine and threads count. The engine is an int8 engine; "" takes VERNIER_ENGINE's, or the first
  // that runs here.
  // Throws Error: invalid_argument, out_of_memory, unsupported (engine, or contract exact).
  PreparedOperand(Side side, Op op, std::int64_t rows, std::int64_t columns, const T* X, std::int64_t ldx,
                  const Options& options = Options{.contract = default_contract<T>()});

  const PreparedData<T>& data() const { return static_cast<const PreparedData<T>&>(*facts_); }  // for the library
};

// A product's report, and whether it read the residues that were prepared: not where the native product was taken, all
// entries were wide, or the workspace was too small for its blocks.
struct VERNIER_API PreparedReport : Report {
  bool prepared_a = false, prepared_b = false;

  std::string text() const;
  std::string json() const;
};

// C = alpha op(A) op(B) + beta C, as gemm of vernier.hpp, with op(A), op(B) or both prepared. m, n and k are those of
// the product, and have to be those of the operand. options.contract has to be the operand's, and options.engine "" or
// the operand's. Always by residues, also where the native product would be faster; wide exponents may fall back to it
// as in gemm with an engine named.
//
// A workspace of gemm_workspace() bytes is enough.
//
// Throws Error with C untouched, before any work: invalid_argument (gemm's; another side, size or contract than
// prepared for; an engine that is not the operand's), out_of_memory, bound_not_met.
template <class T>
VERNIER_API PreparedReport gemm(const PreparedOperand<T>& A, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                                Scalar<T> alpha, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                                const Options& options = Options{.contract = default_contract<T>()});
template <class T>
VERNIER_API PreparedReport gemm(Op opa, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n, std::int64_t k,
                                Scalar<T> alpha, const T* A, std::int64_t lda, Scalar<T> beta, T* C, std::int64_t ldc,
                                const Options& options = Options{.contract = default_contract<T>()});
template <class T>
VERNIER_API PreparedReport gemm(const PreparedOperand<T>& A, const PreparedOperand<T>& B, std::int64_t m,
                                std::int64_t n, std::int64_t k, Scalar<T> alpha, Scalar<T> beta, T* C, std::int64_t ldc,
                                const Options& options = Options{.contract = default_contract<T>()});

namespace cuda {

template <class T>
struct PreparedData;

// The same for a matrix in memory of the current device, where the object's memory is taken from the device itself and
// given back, which waits for the device, with its last copy. Preparing waits until the residues are there.
template <class T>
class VERNIER_API PreparedOperand : public AnyPreparedOperand {
  static_assert(std::is_floating_point_v<T>,
                "on a GPU T is float or double: vernier::PreparedOperand has complex ones");

 public:
  // options: contract, engine, stream and strassen_levels count: with 1 the residues are those of Strassen-Winograd,
  // and with -1 where that is faster for another factor of as many vectors.
  PreparedOperand(Side side, Op op, std::int64_t rows, std::int64_t columns, const T* X, std::int64_t ldx,
                  const Options& options = Options{.contract = default_contract<T>()});

  int device() const { return facts_->device; }
  bool strassen() const { return facts_->strassen; }

  const PreparedData<T>& data() const { return static_cast<const PreparedData<T>&>(*facts_); }  // for the library
};

// C = alpha op(A) op(B) + beta C, as cuda::gemm with an engine named: float too by residues, never by split matrices.
// Asynchronous as that; where both are prepared, and their residues serve, the host does not wait at all. The current
// device has to be the operand's. Can be captured in a graph as that, under fp64-normwise with the residues at hand;
// the objects have to outlive the graph.
template <class T>
VERNIER_API PreparedReport gemm(const PreparedOperand<T>& A, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                                const T* alpha, const T* B, std::int64_t ldb, const T* beta, T* C, std::int64_t ldc,
                                const Options& options = Options{.contract = default_contract<T>()});
template <class T>
VERNIER_API PreparedReport gemm(Op opa, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n, std::int64_t k,
                                const T* alpha, const T* A, std::int64_t lda, const T* beta, T* C, std::int64_t ldc,
                                const Options& options = Options{.contract = default_contract<T>()});
template <class T>
VERNIER_API PreparedReport gemm(const PreparedOperand<T>& A, const PreparedOperand<T>& B, std::int64_t m,
                                std::int64_t n, std::int64_t k, const T* alpha, const T* beta, T* C, std::int64_t ldc,
                                const Options& options = Options{.contract = default_contract<T>()});

// The same with alpha and beta by value.
template <class T>
PreparedReport gemm(const PreparedOperand<T>& A, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                    Scalar<T> alpha, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                    Options options = Options{.contract = default_contract<T>()}) {
  options.pointer_mode = PointerMode::host;
  return gemm<T>(A, opb, m, n, k, &alpha, B, ldb, &beta, C, ldc, options);
}
template <class T>
PreparedReport gemm(Op opa, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n, std::int64_t k,
                    Scalar<T> alpha, const T* A, std::int64_t lda, Scalar<T> beta, T* C, std::int64_t ldc,
                    Options options = Options{.contract = default_contract<T>()}) {
  options.pointer_mode = PointerMode::host;
  return gemm<T>(opa, B, m, n, k, &alpha, A, lda, &beta, C, ldc, options);
}
template <class T>
PreparedReport gemm(const PreparedOperand<T>& A, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n,
                    std::int64_t k, Scalar<T> alpha, Scalar<T> beta, T* C, std::int64_t ldc,
                    Options options = Options{.contract = default_contract<T>()}) {
  options.pointer_mode = PointerMode::host;
  return gemm<T>(A, B, m, n, k, &alpha, &beta, C, ldc, options);
}

}  // namespace cuda
}  // namespace vernier
