// What a prepared operand holds, and how it is made.
#pragma once

#include <complex>
#include <memory>
#include <optional>

#include "base/workspace.hpp"
#include "engine/int8_engine.hpp"
#include "product/operand.hpp"
#include "product/plan/native_cost.hpp"
#include "product/sides.hpp"
#include "residue/plan/blocking.hpp"
#include "vernier/prepared.hpp"

namespace vernier {

template <class T>
struct PreparedData : PreparedFacts {
  PreparedData(Side side, Op op, std::int64_t rows, std::int64_t columns, const T* X, std::int64_t ldx,
               const Options& options);

  Operand<T> copy;  // rows of op(X), or columns
  PreparedPlanes planes;

 private:
  void own_copy(Op op, const T* X, std::int64_t ldx);
  void make_planes(const Int8Engine& engine, int threads);

  std::optional<Workspace> memory_;
  T* copy_begin_ = nullptr;
  VectorStatistics* statistics_ = nullptr;
  int* exponents_ = nullptr;
  std::int8_t* planes_begin_ = nullptr;
};

// Of a complex matrix: that of a real one. On the left [Re -Im; Im Re] with the two rows and columns of an element side
// by side. On the right the rows of an element side by side, (Re; Im), then, from a full strip on, (Im; -Re).
template <class R>
struct PreparedData<std::complex<R>> : PreparedFacts {
  PreparedData(Side side, Op op, std::int64_t rows, std::int64_t columns, const std::complex<R>* X, std::int64_t ldx,
               const Options& options);

  std::shared_ptr<const PreparedData<R>> parts;
};

template <class T>
PreparedOperand<T>::PreparedOperand(Side side, Op op, std::int64_t rows, std::int64_t columns, const T* X,
                                    std::int64_t ldx, const Options& options)
    : AnyPreparedOperand(std::make_shared<const PreparedData<T>>(side, op, rows, columns, X, ldx, options)) {}

// The factors of a product: prepared, of which as many vectors serve as the product has, or the caller's.
template <class T>
struct PreparedFactors {
  Sides<const PreparedData<T>*> prepared;  // null: not prepared
  Sides<Operand<T>> own;                   // then these are the caller's
};

// The arguments are checked but for the matrices of gemm itself.
template <class T>
PreparedReport prepared_product(const PreparedFactors<T>& factors, const ProductShape& shape, T alpha, T beta, T* C,
                                std::int64_t ldc, const Options& options);

}  // namespace vernier
