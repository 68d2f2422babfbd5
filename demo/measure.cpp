#include "measure.hpp"

#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace demo {
namespace {

using vernier::Op;

template <class Function>
double seconds_of(Function&& function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

CBLAS_TRANSPOSE cblas_op(Op op) { return op == Op::none ? CblasNoTrans : CblasTrans; }

MatrixOf<float> rounded(const Matrix& A) {
  MatrixOf<float> result(A.rows, A.cols);
  std::copy(A.data.begin(), A.data.end(), result.data.begin());
  return result;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

// Three long runs will do, or a single one of so many seconds.
bool enough(const std::vector<double>& seconds) {
  constexpr double long_enough = 3;
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return all > long_enough && (seconds.size() >= 3 || seconds.back() > long_enough);
}

// One of the two products of every transformation: in, the factor on the right, and out are members of it.
struct Pass {
  Op op;
  const Matrix& left;
  std::function<const Matrix&(Transformation&)> in;
  std::function<Matrix&(Transformation&)> out;
  std::function<ProductResult&(Transformation&)> result;
};

void run(const Pass& pass, const std::vector<Multiplier>& multipliers, std::vector<Transformation>& all, int repeats) {
  std::vector<std::vector<double>> seconds(multipliers.size());
  for (int r = 0; r <= repeats; ++r) {
    for (std::size_t v = 0; v < multipliers.size(); ++v) {
      if (!all[v].failure.empty() || (r > 0 && !multipliers[v].timed) || enough(seconds[v])) continue;
      try {
        const Outcome outcome = multipliers[v].multiply(pass.op, pass.left, pass.in(all[v]), pass.out(all[v]));
        if (r > 0 || !multipliers[v].timed) seconds[v].push_back(outcome.seconds);
        pass.result(all[v]).report = outcome.report;
      } catch (const vernier::Error& error) {
        all[v].failure = error.what();
      }
    }
  }
  for (std::size_t v = 0; v < multipliers.size(); ++v) {
    if (!all[v].failure.empty()) continue;
    pass.result(all[v]).seconds = median(seconds[v]);
    pass.result(all[v]).error = sampled_error(pass.op, pass.left, pass.in(all[v]), pass.out(all[v]));
  }
}

}  // namespace

Multiplier vernier_multiplier(std::string name, const vernier::Options& options) {
  return {std::move(name), true, [options](Op opa, const Matrix& A, const Matrix& B, Matrix& T) {
            Outcome outcome;
            outcome.seconds = seconds_of([&] {
              outcome.report = vernier::gemm(opa, Op::none, T.rows, T.cols, B.rows, 1.0, A.data.data(), A.rows,
                                             B.data.data(), B.rows, 0.0, T.data.data(), T.rows, options);
            });
            return outcome;
          }};
}

Multiplier openblas_fp64() {
  return {"OpenBLAS fp64", true, [](Op opa, const Matrix& A, const Matrix& B, Matrix& T) {
            const double seconds = seconds_of([&] {
              cblas_dgemm(CblasColMajor, cblas_op(opa), CblasNoTrans, T.rows, T.cols, B.rows, 1.0, A.data.data(),
                          A.rows, B.data.data(), B.rows, 0.0, T.data.data(), T.rows);
            });
            return Outcome{seconds, {}};
          }};
}

Multiplier openblas_fp32() {
  return {"OpenBLAS fp32", true, [](Op opa, const Matrix& A, const Matrix& B, Matrix& T) {
            const MatrixOf<float> a = rounded(A), b = rounded(B);
            MatrixOf<float> t(T.rows, T.cols);
            const double seconds = seconds_of([&] {
              cblas_sgemm(CblasColMajor, cblas_op(opa), CblasNoTrans, T.rows, T.cols, B.rows, 1.0f, a.data.data(),
                          A.rows, b.data.data(), B.rows, 0.0f, t.data.data(), T.rows);
            });
            std::copy(t.data.begin(), t.data.end(), T.data.begin());
            return Outcome{seconds, {}};
          }};
}

std::vector<Transformation> transform(const Matrix& X, const Matrix& C, const std::vector<Multiplier>& multipliers,
                                      int repeats) {
  std::vector<Transformation> all(multipliers.size());
  for (Transformation& t : all) {
    t.half = Matrix(X.rows, C.cols);
    t.full = Matrix(C.cols, C.cols);
  }
  const Pass first = {Op::none, X, [&](Transformation&) -> const Matrix& { return C; },
                      [](Transformation& t) -> Matrix& { return t.half; },
                      [](Transformation& t) -> ProductResult& { return t.first; }};
  const Pass second = {Op::transpose, C, [](Transformation& t) -> const Matrix& { return t.half; },
                       [](Transformation& t) -> Matrix& { return t.full; },
                       [](Transformation& t) -> ProductResult& { return t.second; }};
  run(first, multipliers, all, repeats);
  run(second, multipliers, all, repeats);
  return all;
}

double distance_from_identity(const Matrix& G) {
  double largest = 0;
  for (std::int64_t j = 0; j < G.cols; ++j)
    for (std::int64_t i = 0; i < G.rows; ++i) largest = std::max(largest, std::abs(G(i, j) - (i == j ? 1.0 : 0.0)));
  return largest;
}

double distance(const Matrix& G, const Matrix& H, int block) {
  double largest = 0;
  for (std::int64_t j = 0; j < block; ++j)
    for (std::int64_t i = 0; i < block; ++i) largest = std::max(largest, std::abs(G(i, j) - H(i, j)));
  return largest;
}

double largest_off_diagonal(const Matrix& G, int block) {
  double largest = 0;
  for (std::int64_t j = 0; j < block; ++j)
    for (std::int64_t i = 0; i < block; ++i)
      if (i != j) largest = std::max(largest, std::abs(G(i, j)));
  return largest;
}

}  // namespace demo
