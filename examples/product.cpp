// C = A B to a stated accuracy, and what was done.
#include <cstdio>
#include <vector>
#include <vernier/vernier.hpp>

int main() {
  const std::int64_t n = 300;
  std::vector<double> A(n * n), B(n * n), C(n * n);  // column-major: A(i, j) is A[i + j * n]
  for (std::int64_t i = 0; i < n * n; ++i) {
    A[i] = 1.0 / static_cast<double>(1 + i % 97);
    B[i] = static_cast<double>(i % 89) - 44;
  }

  vernier::Options options;
  options.contract = vernier::Contract::parse("fp64+reproducible");  // the same bits on every machine
  try {
    const vernier::Report report = vernier::gemm(vernier::Op::none, vernier::Op::none, n, n, n, 1.0, A.data(), n,
                                                 B.data(), n, 0.0, C.data(), n, options);
    std::printf("%sC(1, 1) = %.17g\n", report.text().c_str(), C[0]);
  } catch (const vernier::Error& error) {  // thrown before anything is written to C
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
