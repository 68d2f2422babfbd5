#include "reproduce/mary.hpp"

#include "reproduce/gpu.hpp"

namespace vernier::reproduce {

void add_mary(std::vector<Experiment>& list) {
  using namespace mary;
  const auto add = [&list](const char* name, const char* title, const char* figure, const char* found,
                           Result (*run)(const Context&), bool needs_gpu = false) {
    list.push_back({name, title, "Mary, Blanchard, Higham, Lopez, Pranesh (2020)", figure, found, needs_gpu, run});
  };
  add("fma-bounds", "Bounds of block FMAs", "table of bounds",
      "The precision in which a block FMA hands on its result is critical, that of the sums inside less so: with u_FMA "
      "= u_low the "
      "error grows as (n / b) u_low, with u_FMA = u_high it stays at 2 u_low.",
      bounds);
  add("fma-products", "Products on tensor cores", "figure of products",
      "The errors of fp16 and of TC16 grow with n; that of TC32 does not, and it is significantly more accurate.",
      products);
  add("fma-lu", "LU on tensor cores", "figure of LU",
      "LU has the same bounds to first order, and its errors come in the same order.", lu);
  add("lu-storage", "Storing the factors in fp16", "slides on storage",
      "Rounding to fp16 after each update loses much accuracy; a left-looking factorisation with an fp32 buffer loses "
      "none. A double panel "
      "hierarchy keeps the accuracy of TC32 with panels that are wide enough for speed.",
      lu_storage);
  add("refinement", "Iterative refinement", "slides after Haidar et al.",
      "Factors of TC32 make refinement converge where those of fp16 do not: the gain in accuracy is sometimes "
      "critical.",
      refinement);
  add("gpu-refinement", "Iterative refinement on the GPU at hand", "slides after Haidar et al.",
      "Low-precision factors and refinement solve systems up to 4 times as fast as fp64 (V100).", gpu::refinement,
      true);
}

}  // namespace vernier::reproduce
