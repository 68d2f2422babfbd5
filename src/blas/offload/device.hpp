// CPU or GPU for matrices of the host (vernier/offload.hpp).
#pragma once

#include <optional>
#include <string>

#include "product/plan/native_cost.hpp"
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

// The plan where a GPU is to be taken; reads_c: beta is not 0.
template <class T>
std::optional<Plan> offload_plan(const ProductShape& shape, bool reads_c, const Options& options);

// Words for the report of a product that was asked of a GPU and has no such plan; "" of others.
std::string why_not_on_a_gpu(const ProductShape& shape, const Options& options);

}  // namespace vernier
