// What a prepared operand holds, and how it is made.
#pragma once

#include <complex>
#include <memory>
#include <optional>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "base/workspace.hpp"
#include "engine/int8_engine.hpp"
#include "product/call.hpp"
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

// multiply(report) where A and B are read, which are there or not; else beta C. Arguments are checked but for these.
template <class T, class Multiply>
PreparedReport product_or_update(const GemmCall<T>& p, Sides<bool> there, const Options& options,
                                 const Multiply& multiply) {
  const RoutineMode mode;
  const Clock clock;
  check_options("gemm", options);
  PreparedReport report;
  if (p.alpha != T{} && !p.shape().empty()) {
    for (const auto& [name, side] : named_sides) check_pointer("gemm", name, !there[side], nullptr);
    check_pointer("gemm", "C", true, p.c);
    multiply(report);
  } else {
    static_cast<Report&>(report) = gemm<T>(Op::none, Op::none, p.m, p.n, 0, p.alpha, nullptr,
                                           std::max<std::int64_t>(p.m, 1), nullptr, 1, p.beta, p.c, p.ldc, options);
    report.plan.k = p.k;
  }
  report.seconds = clock.seconds();
  return report;
}

// The arguments are checked but for the matrices of gemm itself.
template <class T>
PreparedReport prepared_product(const PreparedFactors<T>& factors, const ProductShape& shape, T alpha, T beta, T* C,
                                std::int64_t ldc, const Options& options);

}  // namespace vernier
