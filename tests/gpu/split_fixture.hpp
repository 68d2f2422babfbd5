// Error-corrected products in device memory, the same on the modelled engine, and data for both.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cuda/device.hpp"
#include "product/device_memory.hpp"
#include "product/plan/current_gpu.hpp"
#include "split/gemm.hpp"
#include "split/split.hpp"
#include "support/bound.hpp"
#include "support/compare.hpp"
#include "support/generators.hpp"
#include "vernier/cuda.hpp"
#include "vernier/split.hpp"

namespace vernier::test {

using cuda::check;
using cuda::copy_to_device;
using split::find_scheme;
using split::Scheme;

// Order of products that error correction pays for, by the kernels in force.
inline std::int64_t least_split_order() { return cuda::takes_hopper_kernels() ? 1000 : 2040; }

// A matrix in device memory, its guards included; shifted by some elements from the allocation's alignment.
class MatrixOnDevice {
 public:
  explicit MatrixOnDevice(const Matrix<float>& x, int shift = 0)
      : count_(x.ld() * x.columns() + 2 * Matrix<float>::guard), shift_(shift), memory_(bytes() / 4 + 8) {
    copy_to_device(begin(), x.data() - Matrix<float>::guard, bytes());
  }
  float* data() const { return begin() + Matrix<float>::guard; }
  void fetch(Matrix<float>& x) const {
    check(cudaMemcpy(x.data() - Matrix<float>::guard, begin(), bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  }

 private:
  float* begin() const { return memory_.data() + shift_; }
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(float); }

  std::int64_t count_;
  int shift_;
  cuda::DeviceBuffer<float> memory_;
};

struct Layout {
  Op opa = Op::none, opb = Op::none;
  std::int64_t pad = 0;
  int shift = 0;
};

struct Update {
  float alpha = 1, beta = 0;
};

inline Matrix<float> on_gpu(const Scheme& s, const Matrix<float>& a, const Matrix<float>& b, Layout layout = {},
                            bool plain = false, Update update = {}, const Matrix<float>* old = nullptr) {
  const Matrix<float> at = stored(layout.opa, a, layout.pad), bt = stored(layout.opb, b, layout.pad);
  Matrix<float> c = old != nullptr ? padded(*old, layout.pad) : Matrix<float>(a.rows(), b.columns(), layout.pad);
  const MatrixOnDevice da(at, layout.shift), db(bt, layout.shift), dc(c, layout.shift);
  split::multiply_on_gpu(s, layout.opa, layout.opb, a.rows(), b.columns(), a.columns(), update.alpha, da.data(),
                         at.ld(), db.data(), bt.ld(), update.beta, dc.data(), c.ld(), nullptr, plain);
  check(cudaDeviceSynchronize(), "multiply_on_gpu");
  dc.fetch(c);
  EXPECT_EQ(c.broken_guard(), "");
  return c;
}

// Pieces of k in which the kernel of a scheme multiplies this shape.
inline int pieces_of(const Scheme& s, std::int64_t m, std::int64_t n, std::int64_t k) {
  if (cuda::current_gpu().half != 0) return 1;  // mma.sync takes k whole
  const bool has_kernel = std::ranges::count(cuda::split_kernel_schemes(), s.name) != 0 && s == find_scheme(s.name);
  return has_kernel ? cuda::plan_split_gemm(s.name, m, n, k).attempts.front().kernel->tile.split_k : 1;
}

inline Matrix<float> on_model(const Scheme& s, const Matrix<float>& a, const Matrix<float>& b) {
  Matrix<float> c(a.rows(), b.columns());
  split::multiply(s, split::engine_of(s).engine, Op::none, Op::none, a.rows(), b.columns(), a.columns(), a.data(),
                  a.ld(), b.data(), b.ld(), c.data(), c.ld(), pieces_of(s, a.rows(), b.columns(), a.columns()));
  return c;
}

// Data in turn: uniform, one sign, wide exponents inside rows, every exponent of rows and columns, many zeros.
inline Operands<float> sample(int kind, std::int64_t m, std::int64_t n, std::int64_t k) {
  Random random(static_cast<std::uint64_t>(17 + kind) * 1000 + static_cast<std::uint64_t>(m + 3 * n + 7 * k));
  const auto matrix = [&](std::int64_t rows, std::int64_t columns, bool is_a) {
    return Matrix<float>::of(rows, columns, [&](auto i, auto j) -> double {
      const double u = 2 * random.uniform() - 1;
      switch (kind) {
        case 0:
          return u;
        case 1:
          return std::abs(u);
        case 2:
          return random.scattered(4);
        case 3: {
          const auto vector = is_a ? i : j;
          return std::ldexp(u, static_cast<int>(vector * 37 % 140) - 70);
        }
        default:
          return random.uniform() < 0.7 ? 0 : u;
      }
    });
  };
  Operands<float> x;
  x.a = matrix(m, k, true);
  x.b = matrix(k, n, false);
  return x;
}
inline constexpr int kinds = 5;

}  // namespace vernier::test
