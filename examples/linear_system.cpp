// A X = B with a measured error, and what a matrix without an answer is told.
#include <cstdio>
#include <vector>
#include <vernier/lapack.hpp>

int main() {
  const std::int64_t n = 400, columns = 2;
  std::vector<double> A(n * n), B(n * columns, 1.0), X(n * columns);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i)
      A[i + j * n] = (i == j ? 10.0 : 0.0) + static_cast<double>((3 * i + 7 * j) % 11) / 11;

  vernier::SolveOptions options;
  options.forward_error = true;
  vernier::SolveReport report =
      vernier::solve(vernier::Op::none, n, columns, A.data(), n, B.data(), n, X.data(), n, options);
  std::printf("%s", report.text().c_str());
  if (report.verdict != vernier::Verdict::ok) return 1;

  for (std::int64_t i = 0; i < n; ++i) A[i + n] = A[i];  // two columns alike
  report = vernier::solve(vernier::Op::none, n, columns, A.data(), n, B.data(), n, X.data(), n, options);
  std::printf("\nwith two columns alike: %s\n", vernier::to_string(report.verdict));
  return report.verdict == vernier::Verdict::ok ? 1 : 0;
}
