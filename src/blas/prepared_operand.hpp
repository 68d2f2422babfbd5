// What a prepared operand holds, and how it is made.
#pragma once

#include <optional>

#include "base/workspace.hpp"
#include "engine/int8_engine.hpp"
#include "product/operand.hpp"
#include "residue/prepared_planes.hpp"
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

extern template struct PreparedData<double>;
extern template struct PreparedData<float>;

}  // namespace vernier
