// Strips of vectors side by side, of both operands of a split.
#pragma once

#include "engine/panel.hpp"
#include "split/convert/convert.hpp"
#include "split/convert/emit.cuh"

namespace vernier::cuda {

struct StripJob {
  SplitJob job;
  SplitThresholds thresholds;
  bool aligned = false;
  std::int64_t vectors = 0, blocks = 0;  // of a product

  StripJob() = default;
  StripJob(SplitForm form, const SplitJob& j, std::int64_t of_a_block)
      : job(j),
        thresholds(split_thresholds(form, j.x.k)),
        aligned(quads_aligned(j.x)),
        vectors(j.x.of_product()),
        blocks(divide_up(vectors, of_a_block)) {}
};

// The blocks of the first come first.
template <class Job>
struct TwoJobs {
  Job first, second;

  __host__ __device__ std::int64_t blocks() const { return first.blocks + second.blocks; }
  __device__ const Job& take(std::int64_t& block) const {
    if (block < first.blocks) return first;
    block -= first.blocks;
    return second;
  }
};

// Vectors side by side, of one product.
struct StripPlace {
  const float* data;   // of the first
  std::int64_t first;  // its number
  int vectors;         // that exist

  __device__ StripPlace(const StripJob& s, std::int64_t product, std::int64_t vector, int size)
      : data(s.job.x.data + product * s.job.x.product_stride + vector * s.job.x.vector_stride),
        first(product * s.vectors + vector),
        vectors(static_cast<int>(min(static_cast<std::int64_t>(size), s.vectors - vector))) {}
};

}  // namespace vernier::cuda
