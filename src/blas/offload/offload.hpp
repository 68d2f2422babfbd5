// Products of matrices in memory of the host on a GPU.
//
// Blocks of C take all of k, so that their scales are those of one product, and contracts that promise bits keep them:
// where every entry is ordinary in one product, it is in each part of it (docs/offload.md). Data for which that does
// not hold are multiplied whole, on the device if it holds them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "blas/offload/kept.hpp"
#include "offload/cuda_link.hpp"
#include "offload/transfer.hpp"
#include "product/call.hpp"

namespace vernier {

// The call of a part of C.
template <class T>
GemmCall<T> part_of(GemmCall<T> call, Range rows, Range columns) {
  call.a += call.opa == Op::none ? rows.begin : rows.begin * call.lda;
  call.b += call.opb == Op::none ? columns.begin * call.ldb : columns.begin;
  call.c += rows.begin + columns.begin * call.ldc;
  call.m = rows.count;
  call.n = columns.count;
  return call;
}

// The devices and what multiplies on them: CUDA's, or in tests one of the host.
template <class T>
struct OffloadTarget {
  int devices = 0;
  std::string missing;  // why there is none
  std::string name;
  std::function<std::unique_ptr<offload::Link>(int device, offload::BlockProduct)> link;
  std::function<std::size_t(int device)> free_memory;
  std::function<offload::Memory(const void* first, const void* last)> memory_of;
  std::function<void()> synchronize;  // with what runs on matrices that lie on the device
  // Bytes that a product takes on the device; least: with which it runs.
  std::function<std::size_t(std::int64_t m, std::int64_t n, std::int64_t k, bool least)> workspace;
  std::function<Report(const GemmCall<T>& on_device, std::size_t workspace, void* stream)> multiply;
  // The same of a block whose operands serve other blocks too, and what that keeps of one; absent: nothing is kept.
  std::function<Report(const GemmCall<T>& on_device, std::size_t workspace, void* stream, KeptOperand& a,
                       KeptOperand& b)>
      multiply_keeping;
  std::function<std::size_t(std::int64_t vectors, std::int64_t k)> kept_bytes;
  // Seconds of a product that is shared so; absent: all devices share each.
  std::function<double(const offload::Staged&, std::int64_t k)> shared_seconds;
};

// Where the matrices of a call lie.
struct OperandMemory {
  offload::Memory a, b, c;

  bool all_on_a_device(const char* routine) const;  // else none: throws for a mixture
};

template <class T>
OffloadTarget<T> cuda_target(const Options& options);

struct OffloadSettings {
  std::int64_t m_block = 0, n_block = 0;  // 0: chosen
  std::size_t memory = 0;                 // of a device, at most; 0: what is free
  offload::TransferSettings transfer;
};

// Threads that copy.
int offload_threads(const Options& options);

// What a target cannot do, the CPU does: from the beginning, or what is missing of C, and the report says so. Throws
// like gemm.
template <class T>
Report offloaded_gemm(const GemmCall<T>& call, const Options& options, const OffloadTarget<T>& target,
                      OffloadSettings settings = {});

}  // namespace vernier
