// A program of a ScaLAPACK that the preload does not know: its product is that library's. No MPI is needed.
#include <cstdio>
#include <vector>

extern "C" void pdgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                        const int*, const int*, const int*, const double*, const int*, const int*, const int*,
                        const double*, double*, const int*, const int*, const int*);

int main() {
  constexpr int n = 300;
  const int size = n, first = 1, descriptor[9] = {1, 0, n, n, 32, 32, 0, 0, n};
  const double one = 1, zero = 0;
  const std::vector<double> a(n * n, 1.0), b(n * n, 1.0);
  std::vector<double> c(n * n, 7.0);
  pdgemm_("N", "N", &size, &size, &size, &one, a.data(), &first, &first, descriptor, b.data(), &first, &first,
          descriptor, &zero, c.data(), &first, &first, descriptor);
  for (const double x : c)
    if (x != 42) return std::fprintf(stderr, "C has %g; expected what the library underneath writes\n", x), 1;
  std::puts("passed on");
}
