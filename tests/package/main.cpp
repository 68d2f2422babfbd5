// What a program outside of this project does with the installed library.
#include <cstdio>
#include <vernier/cuda.hpp>

int main() {
  // [1 2; 3 4] [5 6; 7 8] = [19 22; 43 50], by columns
  const double a[] = {1, 3, 2, 4}, b[] = {5, 7, 6, 8}, expected[] = {19, 43, 22, 50};
  double c[4] = {};
  vernier::Options options;
  options.contract = vernier::Contract::fp64();
  options.contract.reproducible = true;  // the integer scheme also at this size
  const vernier::Report report =
      vernier::gemm(vernier::Op::none, vernier::Op::none, 2, 2, 2, 1.0, a, 2, b, 2, 0.0, c, 2, options);
  std::printf("vernier %s\n%s\n", vernier::version(), report.text().c_str());
  for (const vernier::EngineInfo& engine : vernier::cuda::engines())  // a static library then brings its CUDA part
    std::printf("%s %s\n", engine.name.c_str(), engine.supported ? "is supported" : engine.missing.c_str());
  int wrong = 0;
  for (int i = 0; i < 4; ++i) {
    if (c[i] != expected[i]) {
      std::printf("entry %d: %.17g, expected %g\n", i, c[i], expected[i]);
      ++wrong;
    }
  }
  try {  // an error crosses the library's border as its own type
    vernier::gemm(vernier::Op::none, vernier::Op::none, 2, 2, 2, 1.0, a, 1, b, 2, 0.0, c, 2, options);
    std::puts("lda = 1 was taken");
    ++wrong;
  } catch (const vernier::Error& error) {
    wrong += error.status() != vernier::Status::invalid_argument;
  }
  return wrong == 0 ? 0 : 1;
}
