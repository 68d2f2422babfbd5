// CPU or GPU for matrices of the host (vernier/offload.hpp).
#pragma once

#include <optional>
#include <string>

#include "product/plan/native_cost.hpp"
#include "product/plan/observed_times.hpp"
#include "vernier/offload.hpp"

namespace vernier {

// What a product takes by estimate, in seconds.
struct OffloadEstimate {
  double up = 0, down = 0, product = 0, gpu = 0, cpu = 0;
};
OffloadEstimate estimate_offload(const ProductShape& shape, std::size_t element, bool reads_c, double product_seconds,
                                 double cpu_seconds, const HostLink& link);

// Do the options, or the thread, name a GPU or leave the choice? CUDA is not asked.
bool asks_for_a_gpu(const Options& options);

// The plan where a GPU is to be taken, by estimates alone; reads_c: beta is not 0.
template <class T>
std::optional<Plan> offload_plan(const ProductShape& shape, bool reads_c, const Options& options);

// Is a GPU faster by a fifth or more? By what such products took here, on the CPU and on the GPU, or as estimated.
bool gpu_is_faster(const OffloadEstimate& estimate, const ProductClass& product);

// Where gemm multiplies; where the choice is free, later ones follow what it took.
struct Placement {
  std::optional<Plan> on_gpu;
  std::optional<ProductClass> chosen;  // by gpu_is_faster()

  void took(double seconds) const noexcept;
};
template <class T>
Placement place_product(const ProductShape& shape, bool reads_c, const Options& options);

// Words for the report of a product that was asked of a GPU and has no such plan; "" of others.
std::string why_not_on_a_gpu(const ProductShape& shape, const Options& options);

}  // namespace vernier
