#include "reproduce/mukunoki.hpp"

#include "reproduce/gpu.hpp"

namespace vernier::reproduce {

void add_mukunoki(std::vector<Experiment>& list) {
  using namespace mukunoki;
  const auto add = [&list](const char* name, const char* title, const char* figure, const char* found,
                           Result (*run)(const Context&), bool needs_gpu = false) {
    list.push_back({name, title, "Mukunoki, Ozaki, Ogita, Imamura (2020)", figure, found, needs_gpu, run});
  };
  add("dp-accuracy", "Accuracy of DP-mode and CR-mode", "figure 3",
      "DP-mode is as accurate as cublasDgemm, with some differences, since the number of slices is estimated from a "
      "probabilistic bound. CR-mode is correctly rounded: its error is zero throughout.",
      dp_accuracy);
  add("sp-accuracy", "Accuracy of SP-mode", "figure 8", "SP-mode is as accurate as cublasSgemm.", sp_accuracy);
  add("slices", "Slices and products", "figures 5 and 7",
      "At n = 10240 and phi = 0.1, DP-mode takes 66 products. Wider ranges of the inputs take more slices, and CR-mode "
      "more "
      "than DP-mode.",
      slices_and_products);
  add("dp-speed", "Speed and stages of the modes", "figures 4 to 7",
      "On a Titan RTX, where fp64 is slow, DP-mode is faster than cublasDgemm (980 against 539 GFLOP/s); on a V100, "
      "where it is "
      "fast, it is not. Products take about 70 % of the time; CR-mode takes 4.4 times that of DP-mode at phi = 0.1.",
      mode_speed);
  add("cards", "Two cards and this processor", "table 1",
      "DP-mode reaches 972, 823 and 713 GFLOP/s on a Titan RTX for phi = 0.1, 1, 2 (cublasDgemm 534), and 1064, 914 "
      "and 791 on a "
      "V100 (6761).",
      cards);
  add("reproducibility", "Reproducibility", "sections 1 and 3.1",
      "The results have the same bits whatever the number of threads and the blocking of C; with correct rounding, "
      "whatever the "
      "blocking of k too.",
      reproducibility);
  add("gpu-fp64-speed", "fp64 products on the GPU at hand", "figure 4 and table 1",
      "DP-mode reaches 972 GFLOP/s at phi = 0.1 on a Titan RTX, 1.82 times cublasDgemm, and 1064 on a V100, 0.16 "
      "times.",
      gpu::fp64_speed, true);
  add("gpu-modes", "Two cards and the GPU at hand", "table 1 and figures 5 to 7",
      "DP-mode reaches 972, 823 and 713 GFLOP/s on a Titan RTX for phi = 0.1, 1, 2 (cublasDgemm 534), and 1064, 914 "
      "and 791 on a V100 (6761); "
      "CR-mode 220, 194 and 173, and 255, 223 and 199.",
      gpu::modes, true);
}

}  // namespace vernier::reproduce
