// What a consumer warpgroup of the split product does with the stages: the orders of the schemes
// (split/product/sm90_split.hpp).
#pragma once

#include "number/two_sum.hpp"
#include "split/product/sm90_ring.cuh"

namespace vernier::cuda {

// One consumer warpgroup: 64 columns by Rows rows of C.
template <class Config>
struct Consumer {
  static constexpr int accumulators = Config::Rows / 2;
  using Accumulators = float[accumulators];

  const Ring<Config>& ring;
  std::uint64_t p, q;  // operands in stage 0
  RingPlace<Config::stages> next;
  int released = 0;  // the stage to give back next

  __device__ Consumer(const Ring<Config>& r, int warpgroup)
      : ring(r), p(wgmma_operand(r.p(0) + warpgroup * consumer_columns * split_line_bytes)), q(wgmma_operand(r.q(0))) {}

  __device__ __forceinline__ void arrived() { barrier_wait(ring.full(next.stage), next.parity); }

  // Every block that filled a part of the stage hears of it, from every warp.
  __device__ __forceinline__ void release() {
    const int lane = threadIdx.x % 32;
    if constexpr (Config::Sharing == 1) {
      if (lane == 0) barrier_arrive(ring.empty(released));
    } else {
      if (lane < Config::Sharing) barrier_arrive_remote(ring.empty(released), lane);
    }
    if (++released == Config::stages) released = 0;
  }

  // Part a of op(A) times part b of op(B) over one line: two steps of 32 bytes. Part 1 begins 64 bytes into a line.
  __device__ __forceinline__ void product(Accumulators& d, int stage, int a, int b, int keep) const {
    const auto offset = static_cast<std::uint64_t>(static_cast<std::uint32_t>(stage * (Config::stage_bytes / 16)));
    const std::uint64_t first = p + offset + 4 * b, second = q + offset + 4 * a;
    wgmma<Config::Rows, Config::Input>(d, first, second, keep);
    wgmma<Config::Rows, Config::Input>(d, first + 2, second + 2, 1);
  }

  static __device__ __forceinline__ void add(Accumulators& sum, Accumulators& run) {
    pin(run);
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = __fadd_rn(sum[i], run[i]);
  }

  // Corrections follow each main product on the tensor cores, and a run is added outside while the last of them still
  // execute: the queue never empties.
  __device__ __forceinline__ void separate(Accumulators& sum, int lines) {
    Accumulators run, corrections;
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = 0, corrections[i] = 0;
    for (int line = 0; line < lines; line += Config::RunLines) {
#pragma unroll
      for (int r = 0; r < Config::RunLines; ++r) {
        arrived();
        wgmma_fence();
        product(run, next.stage, 0, 0, r > 0);
        wgmma_commit();
        wgmma_wait<1>();  // the corrections of the line before
        if (line + r > 0) release();
        wgmma_fence();
        product(corrections, next.stage, 1, 0, 1);
        product(corrections, next.stage, 0, 1, 1);
        wgmma_commit();
        next.advance();
      }
      wgmma_wait<1>();  // the main products of this run
      add(sum, run);
    }
    wgmma_wait<0>();
    if (lines > 0) release();
    pin(corrections);
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = __fmaf_rn(corrections[i], 1.0f / 2048, sum[i]);
  }

  // Separate, run by run: 32 k, of three half lines, or 16. What rounding takes of an addition outside stays in the
  // run's registers, where the next run begins. Three lines hold two steps of 32 k; what each warp waits for and gives
  // back is written out for both, or the compiler would let no products overlap.
  __device__ __forceinline__ void compensated(Accumulators& sum, int lines) {
    Accumulators run, corrections;
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = 0, run[i] = 0, corrections[i] = 0;
    // One that the compiler does not know.
    const float one = __uint_as_float(0x3f800000u | static_cast<std::uint32_t>(lines) >> 31);
    int half = 2 * next.stage;  // of the ring: where part 0 of a step lies
    for (int line = 0; line < lines; line += 3) {
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        std::uint64_t part[3];
#pragma unroll
        for (int i = 0; i < 3; ++i) {
          part[i] = static_cast<std::uint32_t>(half / 2 * (Config::stage_bytes / 16) + half % 2 * 4);
          if (++half == 2 * Config::stages) half = 0;
        }
        for (int i = odd; i < 2; ++i) arrived(), next.advance();
#pragma unroll
        for (int l = 0; l < 32; l += Config::run_k) {
          wgmma_fence();
          product_of_run(run, part[0], part[0], l);
          wgmma_commit();
          wgmma_wait<1>();  // the corrections of the run before
          if (l == 0 && line + odd > 0) release();
          if (l == 0 && line > 0 && odd == 0) release();
          wgmma_fence();
          product_of_run(corrections, part[1], part[1], l);
          product_of_run(corrections, part[2], part[0], l);
          product_of_run(corrections, part[0], part[2], l);
          product_of_run(corrections, part[1], part[0], l);
          product_of_run(corrections, part[0], part[1], l);
          wgmma_commit();
          wgmma_wait<1>();  // the main products of this run
          pin(run);
#pragma unroll
          for (int i = 0; i < accumulators; ++i) carry(sum[i], run[i], one);
        }
      }
    }
    wgmma_wait<0>();
    if (lines > 0) release(), release();
    pin(corrections);
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = compensated_end(sum[i], run[i], corrections[i]);
  }

  // Wide tiles leave no registers for new sums beside the old ones. Times one, each is written after the last use of
  // the old one, and goes where that was.
  static __device__ __forceinline__ void carry(float& sum, float& run, float one) {
    if constexpr (Config::Rows == 128) {
      float s = sum;
      fast_two_sum(s, run);
      sum = __fmul_rn(s, one);
    } else {
      two_sum(sum, run);
    }
  }

  // a, b: where the parts lie behind stage 0, in units of 16 bytes; l: the k of the step at which the run begins.
  __device__ __forceinline__ void product_of_run(Accumulators& d, std::uint64_t a, std::uint64_t b, int l) const {
#pragma unroll
    for (int i = l / 8; i < (l + Config::run_k) / 8; i += 2)
      wgmma<Config::Rows, Config::Input>(d, p + b + i, q + a + i, 1);
  }

  // The corrections of a run first, line by line, then its main products: small numbers are cut less among small ones.
  // All corrections of a line before the next is waited for: with two of four, stages run short (197 against 223
  // TFLOP/s at n = 8192). One warpgroup adds while the other multiplies; with runs of one line it does so too often
  // (189 against 234).
  __device__ __forceinline__ void folded(Accumulators& sum, int lines) {
    Accumulators run;
#pragma unroll
    for (int i = 0; i < accumulators; ++i) sum[i] = 0;
    for (int line = 0; line < lines; line += Config::RunLines) {
      int stage[Config::RunLines];
#pragma unroll
      for (int r = 0; r < Config::RunLines; ++r) {
        stage[r] = next.stage;
        arrived();
        wgmma_fence();
        product(run, stage[r], 1, 0, r > 0);
        product(run, stage[r], 0, 1, 1);
        next.advance();
      }
#pragma unroll
      for (int r = 0; r < Config::RunLines; ++r) product(run, stage[r], 0, 0, 1);
      wgmma_commit();
      wgmma_wait<0>();
#pragma unroll
      for (int r = 0; r < Config::RunLines; ++r) release();
      add(sum, run);
    }
  }
};

}  // namespace vernier::cuda
