// Stands in for src/cuda/matrix_fragments.cuh. Addresses in shared memory are places in `shared_memory`.
#pragma once

#include <map>

#include "cuda/ptx.cuh"
#include "vernier/model.hpp"

// The planes of tensor_map.hpp, as copies read them: with boxes of so many rows of 64 or 128 bytes.
struct CUtensorMap {
  const std::uint8_t* base;
  std::int64_t row_bytes, rows, planes;
  int box_rows, box_bytes;
};

namespace vernier::cuda {

inline std::uint8_t* shared_memory = nullptr;

inline void copy_16_bytes(std::uint32_t to, const void* from) { std::memcpy(shared_memory + to, from, 16); }

struct EmulatedBarrier {
  std::uint16_t arrivals, left;
  std::uint32_t phase;
};
inline EmulatedBarrier& barrier_at(std::uint32_t place) {
  return *reinterpret_cast<EmulatedBarrier*>(shared_memory + place);
}
inline void begin_barrier(std::uint32_t barrier, int arrivals) {
  const auto count = static_cast<std::uint16_t>(arrivals);
  barrier_at(barrier) = {count, count, 0};
}
inline void end_barrier(std::uint32_t barrier) { barrier_at(barrier) = {}; }
inline void arrive_at(std::uint32_t barrier) {
  EmulatedBarrier& b = barrier_at(barrier);
  if (--b.left > 0) return;
  b.left = b.arrivals;
  ++b.phase;
}
inline void arrive_with_copies(std::uint32_t barrier) { arrive_at(barrier); }
inline void wait_at(std::uint32_t barrier, std::uint32_t parity) {
  while (barrier_at(barrier).phase % 2 == parity) emulated::Block::pause();
}

inline void barrier_init(std::uint32_t barrier, int count) { begin_barrier(barrier, count); }
inline void fence_barrier_init() {}
inline void barrier_arrive(std::uint32_t barrier) { arrive_at(barrier); }
inline void barrier_wait(std::uint32_t barrier, std::uint32_t parity) { wait_at(barrier, parity); }

inline void prefetch_tensor_map(const CUtensorMap*) {}

// The bytes that a barrier's phase still waits for: it ends with the last of them.
inline std::map<std::uint32_t, int> bytes_on_their_way;
inline void barrier_expect(std::uint32_t barrier, int bytes) { bytes_on_their_way[barrier] += bytes; }
inline void load_box(std::uint32_t destination, const CUtensorMap* map, std::uint32_t barrier, int byte, int row,
                     int plane) {
  const int chunks = map->box_bytes / 16;
  for (int r = 0; r < map->box_rows; ++r)
    for (int c = 0; c < chunks; ++c) {
      const int swizzled = c ^ (chunks == 4 ? r >> 1 & 3 : r & 7);
      std::uint8_t* const to = shared_memory + destination + r * map->box_bytes + swizzled * 16;
      std::memset(to, 0, 16);
      if (row + r < map->rows && byte + 16 * c < map->row_bytes)
        std::memcpy(to, map->base + (plane * map->rows + row + r) * map->row_bytes + byte + 16 * c, 16);
    }
  if ((bytes_on_their_way[barrier] -= map->box_rows * map->box_bytes) == 0) arrive_at(barrier);
}

inline void store_shared(std::uint32_t to, const int4& v) { std::memcpy(shared_memory + to, &v, sizeof v); }
inline int4 load_shared_quad(std::uint32_t from) {
  int4 v;
  std::memcpy(&v, shared_memory + from, sizeof v);
  return v;
}
inline int load_shared(std::uint32_t from) { return load_shared_quad(from).x; }

inline void load_matrices(std::uint32_t (&d)[4], std::uint32_t address) {
  static std::uint32_t rows[32][32];  // [warp][lane]
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  rows[warp][lane] = address;
  __syncwarp();
  for (unsigned i = 0; i < 4; ++i)
    std::memcpy(&d[i], shared_memory + rows[warp][8 * i + lane / 4] + 4 * (lane % 4), sizeof(d[i]));
  __syncwarp();
}

template <bool FromZero = false>
void mma_unsigned_bytes(int (&d)[4], const std::uint32_t (&x)[4], std::uint32_t y0, std::uint32_t y1) {
  static std::uint32_t xs[32][32][4], ys[32][32][2];  // [warp][lane]
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  std::copy(x, x + 4, xs[warp][lane]);
  ys[warp][lane][0] = y0;
  ys[warp][lane][1] = y1;
  __syncwarp();
  for (unsigned e = 0; e < 4; ++e) {
    const unsigned row = lane / 4 + e / 2 * 8, column = 2 * (lane % 4) + e % 2;
    std::uint32_t sum = 0;
    for (unsigned k = 0; k < 32; ++k) {
      const std::uint32_t a = xs[warp][row % 8 * 4 + k % 16 / 4][k / 16 * 2 + row / 8],
                          b = ys[warp][column * 4 + k % 16 / 4][k / 16];
      sum += (a >> (8 * (k % 4)) & 255) * (b >> (8 * (k % 4)) & 255);
    }
    d[e] = static_cast<int>((FromZero ? 0 : static_cast<std::uint32_t>(d[e])) + sum);
  }
  __syncwarp();
}

enum class FloatWord { fp16, bf16, tf32 };

inline model::Engine mma_engine;  // that the instruction below is

template <FloatWord Word>
void mma_floats(float (&d)[4], const std::uint32_t (&x)[4], std::uint32_t y0, std::uint32_t y1, const float (&c)[4]) {
  static std::uint32_t xs[32][32][4], ys[32][32][2];  // [warp][lane]
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  std::copy(x, x + 4, xs[warp][lane]);
  ys[warp][lane][0] = y0;
  ys[warp][lane][1] = y1;
  __syncwarp();
  constexpr unsigned bits = Word == FloatWord::tf32 ? 32 : 16, in_word = 32 / bits, depth = 8 * in_word;
  float sums[4];
  for (unsigned e = 0; e < 4; ++e) {
    const unsigned row = lane / 4 + e / 2 * 8, column = 2 * (lane % 4) + e % 2;
    std::uint64_t a[depth], b[depth];
    for (unsigned k = 0; k < depth; ++k) {
      const unsigned word = k / in_word, shift = k % in_word * bits;
      a[k] = xs[warp][row % 8 * 4 + word % 4][word / 4 * 2 + row / 8] >> shift & (~std::uint64_t{0} >> (64 - bits));
      b[k] = ys[warp][column * 4 + word % 4][word / 4] >> shift & (~std::uint64_t{0} >> (64 - bits));
    }
    sums[e] = std::bit_cast<float>(
        static_cast<std::uint32_t>(model::dot(mma_engine, a, b, std::bit_cast<std::uint32_t>(c[e]))));
  }
  __syncwarp();
  std::copy(sums, sums + 4, d);
}

}  // namespace vernier::cuda
