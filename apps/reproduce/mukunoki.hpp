// The experiments of Mukunoki, Ozaki, Ogita and Imamura (2020), and the products that they compare.
#pragma once

#include <vernier/slices.hpp>

#include "baseline.hpp"
#include "native.hpp"
#include "reproduce/data.hpp"
#include "reproduce/experiment.hpp"

namespace vernier::reproduce::mukunoki {

inline constexpr const char* titan_engine = "turing-fp16-fp32";  // the tensor cores of the paper's Titan RTX

template <class T>
SliceReport by_slices(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c, const SliceOptions& options) {
  return gemm_by_slices<T>(Op::none, Op::none, a.rows, b.columns, a.columns, T{1}, a.data.data(), a.rows, b.data.data(),
                           b.rows, T{0}, c.data.data(), c.rows, options);
}

inline SliceOptions mode(SliceMode m, const char* engine) { return {.mode = m, .engine = engine}; }
inline SliceOptions working(const char* engine) { return mode(SliceMode::working_precision, engine); }
inline SliceOptions correct(const char* engine) { return mode(SliceMode::correctly_rounded, engine); }

template <class T>
void native(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c) {
  cli::native_gemm<T>({Op::none, Op::none, a.rows, b.columns, a.columns, a.data.data(), a.rows, b.data.data(), b.rows,
                       c.data.data(), c.rows});
}

Result dp_accuracy(const Context& context);  // mukunoki_accuracy.cpp
Result sp_accuracy(const Context& context);
Result slices_and_products(const Context& context);
Result reproducibility(const Context& context);
Result mode_speed(const Context& context);  // mukunoki_speed.cpp
Result cards(const Context& context);

}  // namespace vernier::reproduce::mukunoki
