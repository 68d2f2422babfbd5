// Many products with one complex matrix, whose residues are made once.
#include <complex>
#include <cstdio>
#include <vector>
#include <vernier/prepared.hpp>

int main() {
  using Number = std::complex<double>;
  const std::int64_t m = 120, n = 40, k = 200;
  std::vector<Number> A(m * k), B(k * n), C(m * n);
  for (std::int64_t i = 0; i < m * k; ++i) A[i] = {1.0 / static_cast<double>(1 + i % 53), static_cast<double>(i % 7)};

  const vernier::PreparedOperand<Number> prepared(vernier::Side::left, vernier::Op::none, m, k, A.data(), m);
  std::printf("%d residues of each number, %zu bytes\n", prepared.moduli(), prepared.bytes());
  for (int step = 1; step <= 3; ++step) {
    for (std::int64_t i = 0; i < k * n; ++i) B[i] = {static_cast<double>(i % (10 + step)), 1};
    vernier::gemm(prepared, vernier::Op::none, m, n, k, 1.0, B.data(), k, 0.0, C.data(), m);
    std::printf("step %d: C(1, 1) = %.15g %+.15g i\n", step, C[0].real(), C[0].imag());
  }
  return 0;
}
