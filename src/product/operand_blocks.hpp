// Parts of operands, and copies to and from a device: what the products by residues on a GPU share.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda/status.hpp"
#include "engine/panel_cuda.hpp"
#include "product/operand.hpp"

namespace vernier::cuda {

template <class T>
Operand<T> balanced(Operand<T> x, Side side, const std::int8_t* balance) {
  x.balance = balance;
  x.balance_sign = side == both_sides[0] ? 1 : -1;
  return x;
}

template <class T>
Operand<T> part_of(const Operand<T>& x, Range vectors, Range ks) {
  return {.data = x.at(vectors.begin, ks.begin),
          .vectors = vectors.count,
          .k = ks.count,
          .ld = x.ld,
          .k_contiguous = x.k_contiguous,
          .balance = x.balance != nullptr ? x.balance + ks.begin : nullptr,
          .balance_sign = x.balance_sign};
}

// Of the vectors that Strassen-Winograd takes together. May be empty, or less.
inline Range half_of(Range all, int which) {
  const std::int64_t half = half_vectors(all.count);
  return which == 0 ? Range{all.begin, std::min(half, all.count)} : Range{all.begin + half, all.count - half};
}

// Waits for the stream. host: whose memory serves where it is enough.
template <class T>
std::vector<T> on_host(const T* device, std::int64_t count, cudaStream_t stream, std::vector<T> host = {}) {
  host.resize(static_cast<std::size_t>(count));
  check(cudaMemcpyAsync(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost, stream),
        "copy to the host");
  check(cudaStreamSynchronize(stream), "copy to the host");
  return host;
}

template <class T>
void to_device(T* device, const std::vector<T>& host, cudaStream_t stream) {
  check(cudaMemcpyAsync(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
        "copy to the device");
}

}  // namespace vernier::cuda
