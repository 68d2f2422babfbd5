// Is A = T - s I positive definite? T are second differences, whose least eigenvalue 4 sin^2(pi / (2 (n + 1))) is
// known; s comes close to it from both sides. Prints the least eigenvalue of A, whether Cholesky in double goes
// through, and the bound that verified_definite proves: 0 where there is no proof.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>
#include <vernier/lapack.hpp>
#include <vernier/verified.hpp>

int main() {
  constexpr std::int64_t n = 200;
  const long double sine = std::sin(std::numbers::pi_v<long double> / (2 * (n + 1)));
  bool right = true;
  std::puts("# least eigenvalue; Cholesky in double; proved bound");
  for (const int sign : {1, -1})
    for (int exponent = -4; exponent >= -17; --exponent) {
      const double diagonal =
          static_cast<double>(2 - 4 * static_cast<long double>(sine) * sine + sign * std::pow(10.0L, exponent));
      const long double least = 4 * sine * sine - (2 - static_cast<long double>(diagonal));  // of A as it is stored
      std::vector<double> a(n * n);
      for (std::int64_t j = 0; j < n; ++j) {
        a[j + j * n] = diagonal;
        if (j + 1 < n) a[j + 1 + j * n] = a[j + (j + 1) * n] = -1;
      }
      double bound = 0;
      const bool proved = vernier::verified_definite(n, a.data(), n, bound).verified;
      const bool factored = vernier::potrf<double>(vernier::Uplo::lower, n, a.data(), n) == 0;
      std::printf("%.3Le %s %.3e\n", least, factored ? "factored" : "failed", proved ? bound : 0.0);
      right = right && (!proved || bound <= static_cast<double>(least)) && (proved || least < 1e-11L);
    }
  return right ? 0 : 1;
}
