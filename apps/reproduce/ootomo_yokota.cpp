#include "reproduce/ootomo_yokota.hpp"

#include "reproduce/gpu.hpp"

namespace vernier::reproduce {

void add_ootomo_yokota(std::vector<Experiment>& list) {
  using namespace ootomo_yokota;
  const auto add = [&list](const char* name, const char* title, const char* figure, const char* found,
                           Result (*run)(const Context&), bool needs_gpu = false) {
    list.push_back({name, title, "Ootomo, Yokota (2021)", figure, found, needs_gpu, run});
  };
  add("accuracy", "Accuracy against k", "figure 1",
      "Error correction as Markidis et al. do it is better than an uncorrected tensor-core product, but falls behind "
      "fp32 as "
      "the inner dimension grows. With the accumulator rounded outside of the tensor cores, halfhalf and tf32tf32 are "
      "as "
      "accurate as fp32.",
      accuracy);
  add("cleared-bit", "A product of 22 bits", "figure 2",
      "An fp32 product whose inputs have the last bit cleared keeps 22.5 bits, fewer than the 22.75 of Markidis' two "
      "parts, "
      "and is more accurate all the same: lost bits are not the cause of Markidis' error.",
      cleared_bit);
  add("rounding", "Rounding of the accumulator", "figure 3",
      "In a software tensor core that differs from the hardware in one rounding, that of + C, round to nearest gives "
      "fp32's "
      "error and round toward zero gives Markidis'.",
      rounding);
  add("significand", "Bits kept of a significand", "table 1",
      "Two fp16 parts keep 22.75 of 23 bits on the mean; so do parts rounded to nearest with ties away from zero "
      "(tf32). "
      "With the last bit cleared it is 22.5.",
      significand);
  add("underflow", "Underflow of the second part", "figure 6",
      "Without scaling, the second part underflows, gradually or altogether, with a probability that follows from the "
      "leading "
      "zeros of the bits below the first; gradual underflow occurs already for values around 2^0.",
      underflow);
  add("representation", "Error of representation against the exponent", "figure 7",
      "halfhalf holds a much wider range of exponents than Markidis' halfhalf; tf32tf32 holds about that of fp32.",
      representation);
  add("input-types", "Error by type of input", "figure 8",
      "halfhalf matches fp32 where all exponents lie in (-15, 15), loses accuracy where those of one matrix or both "
      "lie in "
      "(-35, -15), and computes nothing correct where those of one lie in (-45, -35). tf32tf32 matches fp32 on all of "
      "them.",
      input_types);
  add("lo-lo", "Dropping the product of the low parts", "section 3.4",
      "The product of the two low parts is 2^-22 of the whole and can be dropped, which leaves 75 % of Markidis' "
      "products.",
      lo_lo);
  add("gpu-accuracy", "The tensor cores at hand compute what their model does", "figure 1",
      "Figure 1 was measured on an A100. Here the curves come from the model, which stands for the hardware as far as "
      "both "
      "give the same bits.",
      gpu::same_bits_as_the_model, true);
  add("gpu-fp32-speed", "Throughput against size", "figure 9",
      "On an A100, whose fp32 units peak at 19.5 TFLOP/s, halfhalf reaches 51 TFLOP/s and tf32tf32 33 (slides of 2022; "
      "45 and 29 in "
      "the paper of 2021), more than fp32 units can at all.",
      gpu::fp32_speed, true);
  add("gpu-fp32-energy", "Energy of a product", "slides of 2022",
      "The error-corrected products take less power than cuBLAS's fp32.", gpu::fp32_energy, true);
}

}  // namespace vernier::reproduce
