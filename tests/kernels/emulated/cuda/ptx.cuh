// Stands in for src/cuda/ptx.cuh, so that kernels compile for the host: a block's threads are fibers that take turns
// and wait for each other at barriers. Instructions are computed by their definitions (PTX ISA 8.0). One block at a
// time.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#define __host__
#define __device__
#define __global__ [[maybe_unused]] static  // nvcc's functions of these names are other ones
#define __forceinline__ inline
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)

struct EmulatedIndex {
  unsigned x = 0, y = 0, z = 0;
};
inline EmulatedIndex threadIdx, blockIdx, gridDim;

struct uint2 {
  std::uint32_t x, y;
};
struct uint4 {
  std::uint32_t x, y, z, w;
};
struct int4 {
  int x, y, z, w;
};
struct float2 {
  float x, y;
};
struct double2 {
  double x, y;
};
struct longlong2 {
  long long x, y;
};
inline uint2 make_uint2(std::uint32_t x, std::uint32_t y) { return {x, y}; }
inline uint4 make_uint4(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t w) { return {x, y, z, w}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
using std::fma;
using std::max;
using std::min;

inline std::uint32_t __byte_perm(std::uint32_t a, std::uint32_t b, std::uint32_t selectors) {
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  std::uint32_t r = 0;
  for (unsigned i = 0; i < 4; ++i)
    r |= static_cast<std::uint32_t>(bytes >> (8 * (selectors >> (4 * i) & 7)) & 255) << (8 * i);
  return r;
}
inline std::uint32_t __vsub4(std::uint32_t a, std::uint32_t b) {
  std::uint32_t r = 0;
  for (unsigned i = 0; i < 32; i += 8) r |= (((a >> i) - (b >> i)) & 255) << i;
  return r;
}
inline int atomicMin(int* p, int value) {
  const int old = *p;
  *p = std::min(old, value);
  return old;
}
template <class T>
T atomicAdd(T* p, T value) {
  const T old = *p;
  *p += value;
  return old;
}
template <class T>
T atomicMax(T* p, T value) {
  const T old = *p;
  *p = std::max(old, value);
  return old;
}
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
// Blocks run one after another: what a thread waits for would never come.
inline void __nanosleep(unsigned) { std::abort(); }
template <class T>
T __ldcs(const T* p) {
  return *p;
}

namespace vernier::emulated {

class Block {
 public:
  static constexpr int warp = 32;

  // Runs body() in every thread.
  Block(int threads, const std::function<void()>& body) : fibers_(static_cast<std::size_t>(threads)), body_(body) {
    running_ = this;
    all_.members = threads;
    warps_.resize(fibers_.size() / warp);
    for (Barrier& b : warps_) b.members = warp;
    while (stacks_.size() < fibers_.size()) stacks_.push_back(std::make_unique_for_overwrite<char[]>(stack_bytes));
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      Fiber& f = fibers_[i];
      getcontext(&f.context);
      f.context.uc_stack.ss_sp = stacks_[i].get();
      f.context.uc_stack.ss_size = stack_bytes;
      f.context.uc_link = &scheduler_;
      makecontext(&f.context, &Block::enter, 0);
    }
    for (bool alive = true; alive;) {
      alive = false;
      for (std::size_t i = 0; i < fibers_.size(); ++i) {
        if (fibers_[i].done) continue;
        alive = true;
        threadIdx.x = static_cast<unsigned>(i);
        swapcontext(&scheduler_, &fibers_[i].context);
      }
    }
  }

  static void wait_for_all() { running_->wait(running_->all_); }
  static void pause() { swapcontext(&running_->fibers_[threadIdx.x].context, &running_->scheduler_); }
  static void wait_for_warp() { running_->wait(running_->warps_[threadIdx.x / warp]); }

 private:
  struct Fiber {
    ucontext_t context;
    bool done = false;
  };
  struct Barrier {
    int members = 0, arrived = 0, passed = 0;
  };

  static void enter() {
    Block& block = *running_;
    block.body_();
    block.fibers_[threadIdx.x].done = true;
    block.leave(block.all_);
    block.leave(block.warps_[threadIdx.x / warp]);
  }

  void wait(Barrier& b) {
    const unsigned me = threadIdx.x;
    const int passed = b.passed;
    ++b.arrived;
    open_if_all_are_there(b);
    while (b.passed == passed) swapcontext(&fibers_[me].context, &scheduler_);
  }
  static void leave(Barrier& b) {
    --b.members;
    open_if_all_are_there(b);
  }
  static void open_if_all_are_there(Barrier& b) {
    if (b.arrived < b.members || b.arrived == 0) return;
    b.arrived = 0;
    ++b.passed;
  }

  static constexpr std::size_t stack_bytes = std::size_t{1} << 16;

  inline static Block* running_ = nullptr;
  inline static std::vector<std::unique_ptr<char[]>> stacks_;  // each block's in turn
  std::vector<Fiber> fibers_;
  std::vector<Barrier> warps_;
  Barrier all_;
  ucontext_t scheduler_{};
  const std::function<void()>& body_;
};

}  // namespace vernier::emulated

inline void __syncthreads() { vernier::emulated::Block::wait_for_all(); }
inline void __syncwarp() { vernier::emulated::Block::wait_for_warp(); }
template <class T>
T __shfl_xor_sync(unsigned, T x, unsigned mask) {
  static T shared[1024];
  shared[threadIdx.x] = x;
  __syncwarp();
  const T other = shared[threadIdx.x ^ mask];
  __syncwarp();
  return other;
}

template <class T>
T __shfl_sync(unsigned, T x, unsigned lane) {
  static T shared[1024];
  shared[threadIdx.x] = x;
  __syncwarp();
  const T other = shared[threadIdx.x / 32 * 32 + lane];
  __syncwarp();
  return other;
}

template <class Join>
std::uint32_t reduce_warp(std::uint32_t x, Join join) {
  for (unsigned d = 16; d > 0; d /= 2) x = join(x, __shfl_xor_sync(~0u, x, d));
  return x;
}
inline std::uint32_t __reduce_add_sync(unsigned, std::uint32_t x) {
  return reduce_warp(x, [](std::uint32_t a, std::uint32_t b) { return a + b; });
}
inline std::uint32_t __reduce_max_sync(unsigned, std::uint32_t x) {
  return reduce_warp(x, [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
}
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
// Of x from 0 to 2^51: rounded up to a whole number.
inline double __dadd_ru(double x, double whole) { return std::ceil(x) + whole; }
inline int __double2loint(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x)); }

namespace vernier::cuda {

inline void wait_for_previous_kernels() {}
inline void allow_next_kernel() {}
inline void store_if(bool wanted, uint4* to, const uint4& v) {
  if (wanted) *to = v;
}
inline longlong2 load_volatile(const longlong2* p) { return *p; }

template <class Shared>
Shared& dynamic_shared() {
  static Shared shared;
  return shared;
}

// Copies arrive at once.
template <class T>
void copy_async(void* to, const T* from, bool exists) {
  const T zero{};
  std::memcpy(to, exists ? from : &zero, sizeof(T));
}
template <class T>
void copy_async_ahead(void* to, const T* from, bool exists) {
  copy_async(to, from, exists);
}
inline void wait_for_copies() {}
inline void close_copies() {}
template <int Groups>
void wait_for_copies_but() {}

template <class Word>
void keep(Word&) {}

inline void mma_bytes(int (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1, const int (&c)[4]) {
  static std::uint32_t weights[32][32][4], bytes[32][32][2];  // [warp][lane]
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  std::copy(a, a + 4, weights[warp][lane]);
  bytes[warp][lane][0] = b0;
  bytes[warp][lane][1] = b1;
  __syncwarp();
  int sum[4];
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4 + i / 2 * 8, column = 2 * (lane % 4) + i % 2;
    sum[i] = c[i];
    for (unsigned k = 0; k < 32; ++k) {
      const std::uint32_t w = weights[warp][row % 8 * 4 + k % 16 / 4][k / 16 * 2 + row / 8],
                          b = bytes[warp][column * 4 + k % 16 / 4][k / 16];
      sum[i] += static_cast<std::int8_t>(w >> (8 * (k % 4)) & 255) * static_cast<int>(b >> (8 * (k % 4)) & 255);
    }
  }
  __syncwarp();
  std::copy(sum, sum + 4, d);
}
// 16 bytes of depth: the other half stands for zeros.
inline void mma_bytes(int (&d)[4], const std::uint32_t (&a)[2], std::uint32_t b, const int (&c)[4]) {
  const std::uint32_t wide[4] = {a[0], a[1], 0, 0};
  mma_bytes(d, wide, b, 0, c);
}

}  // namespace vernier::cuda
