// The panel kernel: 16 blocks hold the panel in registers, each thread some whole rows.
//
// Rows never move: each carries its position, an exchange swaps two numbers, and the write-back scatters the rows. Per
// column: the largest element of a warp, then of a block; the warp that owns the block's candidate sends its key, the
// reciprocal of the pivot and the rest of the row to the mailboxes of all blocks (panel.cu, panel_in_memory.cu).
// There is no barrier of all blocks in the loop. Four mailboxes in turn are safe: who sends column j + 4 has seen
// everybody's column j + 3, so everybody is done with j.
//
// The update is deferred: before the next search only the next column is updated, the rest while candidates travel.
// Registers cannot be indexed, so the update shifts a row by one, and the column at work is always the first. The
// active part of the row narrows by `chunk` after so many columns.
#pragma once

#include <type_traits>
#include <utility>

#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "lapack/lu/panel.hpp"
#include "number/ieee754.hpp"

namespace vernier::cuda {

// |x| as an ordered pattern of bits, then ~position: among equals the first wins, as in isamax.
struct PivotKey {
  std::uint32_t high, low, place;
};

template <class Bits>
__device__ __forceinline__ std::uint32_t high_word(Bits bits) {
  return static_cast<std::uint32_t>(sizeof(Bits) == 8 ? std::uint64_t{bits} >> 32 : bits);
}
template <class Bits>
__device__ __forceinline__ std::uint32_t low_word(Bits bits) {
  return sizeof(Bits) == 8 ? static_cast<std::uint32_t>(bits) : 0;
}

// A mask with the bit of the lane that has the largest key, given the largest high word.
__device__ __forceinline__ unsigned elect(PivotKey k, std::uint32_t high) {
  bool in = k.high == high;
  unsigned lanes = __ballot_sync(~0u, in);
  if ((lanes & (lanes - 1)) != 0) {
    const std::uint32_t low = __reduce_max_sync(~0u, in ? k.low : 0u);
    in = in && k.low == low;
    const std::uint32_t place = __reduce_max_sync(~0u, in ? k.place : 0u);
    in = in && k.place == place;
    lanes = __ballot_sync(~0u, in);
    lanes &= 0u - lanes;
  }
  return lanes;
}

// Pivots below this would have an infinite reciprocal: they and their column are scaled up by 2^64 first.
template <class T>
inline constexpr T small_pivot = std::is_same_v<T, float> ? T(0x1p-120) : T(0x1p-1016);
template <class T>
__device__ __forceinline__ float pivot_scale(T pivot) {
  return fabs(pivot) < small_pivot<T> ? 0x1p64f : 1.0f;
}
__device__ __forceinline__ float reciprocal(float x) { return x == 0 ? 0.0f : __frcp_rn(x); }
__device__ __forceinline__ double reciprocal(double x) { return x == 0 ? 0.0 : __drcp_rn(x); }

template <class T>
union Sixteen {  // bytes
  static constexpr int count = 16 / sizeof(T);
  uint4 bits;
  T x[count];
};

// Columns, rows a thread, threads a block.
template <class T, int Columns_, int Rows_, int Threads_>
struct PanelShape {
  static constexpr int columns = Columns_, rows = Rows_, threads = Threads_, blocks = 16;
  static constexpr int chunk = columns > 16 ? columns / 4 : columns > 8 ? columns / 2 : columns > 4 ? 4 : columns;
  static constexpr int warps = threads / 32, quads = 16 / sizeof(T), mailboxes = 4;

  struct Shared {
    alignas(16) T stage[columns];  // the block's candidate on its way out; its first element: the pivot's reciprocal
    uint4 warp_key[2][warps];      // the fourth word: pivot_scale
    alignas(16) T slab[threads][columns + quads];  // a row of every thread, between its layouts in memory and registers
    int slab_place[threads];
  };
};

// Mail: how blocks see each other's candidates.
template <class T, class Shape, class Mail>
struct Panel {
  static constexpr int columns = Shape::columns, rows = Shape::rows, blocks = Shape::blocks, chunk = Shape::chunk,
                       quads = Shape::quads;
  using Shared = typename Shape::Shared;

  Shared& s;
  const PanelTask<T>& task;
  Mail& mail;
  const int block;
  T a[rows][columns];
  int place[rows];    // position of the row in the panel; -1: there is none
  bool active[rows];  // may it still become a pivot?
  T factor[rows];     // -l of the update that is pending
  T finished[rows];   // l or u of the column at work

  __device__ __forceinline__ Panel(Shared& shared, const PanelTask<T>& t, Mail& m)
      : s(shared), task(t), mail(m), block(m.block) {}

  __device__ __forceinline__ int row_of(int r) const { return (r * blocks + block) * Shape::threads + threadIdx.x; }

  // Lanes side by side share a row in memory: piece i of a thread lies in this row of a slab, at this quad.
  static constexpr int pieces = columns / quads;
  __device__ __forceinline__ static int piece_row(int i) { return (i * Shape::threads + threadIdx.x) / pieces; }
  __device__ __forceinline__ static int piece_quad() { return threadIdx.x % pieces; }

  __device__ __forceinline__ Sixteen<T>& slab(int row, int q) const {
    return *reinterpret_cast<Sixteen<T>*>(&s.slab[row][q * quads]);
  }

  __device__ __forceinline__ void load() {
    const int left = task.rows - task.first;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      place[r] = row_of(r) < left ? row_of(r) : -1;
      active[r] = place[r] >= 0;
#pragma unroll
      for (int i = 0; i < pieces; ++i) {
        const int row = (r * blocks + block) * Shape::threads + piece_row(i);
        Sixteen<T> v;
        v.bits = uint4{};
        if (row < left)
          v.bits = *reinterpret_cast<const uint4*>(task.a.at(task.first + row, task.first + piece_quad() * quads));
#pragma unroll
        for (int e = 0; e < quads; ++e) a[r][i * quads + e] = v.x[e];
      }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      if (r > 0) __syncthreads();
#pragma unroll
      for (int i = 0; i < pieces; ++i) {
        Sixteen<T> v;
#pragma unroll
        for (int e = 0; e < quads; ++e) v.x[e] = a[r][i * quads + e];
        slab(piece_row(i), piece_quad()).bits = v.bits;
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < pieces; ++i) {
        Sixteen<T> v;
        v.bits = slab(threadIdx.x, i).bits;
#pragma unroll
        for (int e = 0; e < quads; ++e) a[r][i * quads + e] = v.x[e];
      }
    }
  }

  // Column C * chunk + i ends up in register columns - (C + 1) * chunk + i.
  __device__ __forceinline__ void store() const {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      __syncthreads();
#pragma unroll
      for (int q = 0; q < pieces; ++q) {
        Sixteen<T> v;
#pragma unroll
        for (int e = 0; e < quads; ++e) {
          const int k = q * quads + e;
          v.x[e] = a[r][columns - (k / chunk + 1) * chunk + k % chunk];
        }
        slab(threadIdx.x, q).bits = v.bits;
      }
      s.slab_place[threadIdx.x] = place[r];
      __syncthreads();
#pragma unroll
      for (int i = 0; i < pieces; ++i) {
        const int to = s.slab_place[piece_row(i)];
        if (to >= 0)
          *reinterpret_cast<uint4*>(task.a.at(task.first + to, task.first + piece_quad() * quads)) =
              slab(piece_row(i), piece_quad()).bits;
      }
      if (place[r] < 0) continue;
      if (place[r] < columns) task.exchanges.from[task.first + place[r]] = task.first + row_of(r);
      if (row_of(r) < columns) task.exchanges.to[task.first + row_of(r)] = task.first + place[r];
    }
  }

  // The candidate's row with its pending update into the mailboxes of column j, by the warp that owns it.
  template <int Width, bool Pending>
  __device__ __forceinline__ void send(int j, const uint4& key, T mul, const T* u) {
    const int lane = threadIdx.x % 32, destination = lane % Mail::copies, part = lane / Mail::copies;
    const auto to = mail.to(j, destination);
    if (part == 0) to.key(key);
#pragma unroll
    for (int q0 = 0; q0 < Width / quads; q0 += 32 / Mail::copies) {
      const int q = q0 + part;
      if (q >= Width / quads) break;
      Sixteen<T> x, y;
      x.bits = reinterpret_cast<const uint4*>(s.stage)[q];
      T beyond = 0;
      if (Pending) {
        y.bits = Mail::quad(u, q);
        if (q + 1 < Width / quads) beyond = Mail::element(u, (q + 1) * quads);
      }
#pragma unroll
      for (int e = 0; e < quads; ++e) {
        const int c = q * quads + e;
        if (c == 0) continue;
        if (Pending) x.x[e] = fma(mul, e + 1 < quads ? y.x[(e + 1) % quads] : beyond, x.x[e]);
        if (c >= columns - j) x.x[e] = 0;
      }
      to.quad(q, x.bits);
    }
    mail.sent(j);
  }

  // The largest active element of the first column; `meanwhile` runs in the shadow of the search.
  template <int Width, bool Pending, class Meanwhile>
  __device__ __forceinline__ void search_and_send(int j, const T* u, Meanwhile meanwhile) {
    using Bits = decltype(magnitude_bits(T(0)));
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Bits bits[rows], most = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      bits[r] = active[r] ? magnitude_bits(a[r][0]) : Bits(0);
      most = max(most, bits[r]);
    }
    const std::uint32_t high = __reduce_max_sync(~0u, high_word(most));
    meanwhile();
    std::uint32_t best_place = 0;
    int best = 0;
    T pivot = 0, mul = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const std::uint32_t p = ~static_cast<std::uint32_t>(place[r]);
      if (active[r] && bits[r] == most && p > best_place) {
        best_place = p, best = r, pivot = a[r][0];
        if (Pending) mul = factor[r];
      }
    }
    const PivotKey mine{high_word(most), low_word(most), best_place};
    const unsigned winner = elect(mine, high);
    const bool me = (winner >> lane & 1) != 0;
    const float scale = pivot_scale(pivot);
    if (me) s.warp_key[j & 1][warp] = make_uint4(mine.high, mine.low, mine.place, __float_as_uint(scale));
    const T inverse = reciprocal(pivot * scale);  // before it is known to be needed: off the critical path
    __syncthreads();
    uint4 v = make_uint4(0, 0, 0, 0);
    if (lane < Shape::warps) v = s.warp_key[j & 1][lane];
    const unsigned owner = elect({v.x, v.y, v.z}, __reduce_max_sync(~0u, v.x));
    if ((owner >> warp & 1) == 0) return;
    if (me) {
#pragma unroll
      for (int r = 0; r < rows; ++r)
        if (r == best)
#pragma unroll
          for (int q = 0; q < Width / quads; ++q) {
            Sixteen<T> x;
#pragma unroll
            for (int e = 0; e < quads; ++e) {
              const int c = q * quads + e;
              x.x[e] = c == 0 ? inverse : !Pending ? a[r][c] : c < Width - 1 ? a[r][(c + 1) % columns] : T(0);
            }
            reinterpret_cast<uint4*>(s.stage)[q] = x.bits;
          }
    }
    const int from = __ffs(static_cast<int>(winner)) - 1;
    if (Pending) mul = __shfl_sync(~0u, mul, from);
    const uint4 key = make_uint4(high, __shfl_sync(~0u, mine.low, from), __shfl_sync(~0u, mine.place, from),
                                 __shfl_sync(~0u, __float_as_uint(scale), from));
    __syncwarp();
    send<Width, Pending>(j, key, mul, u);
  }

  __device__ __forceinline__ void note_pivot(int j, int p, const uint4& key) const {
    if (block != 0 || threadIdx.x != 0) return;
    task.pivots[task.first + j] = task.first + p + 1;
    if (key.x == 0 && key.y == 0 && task.first + j < task.columns) atomicMin(task.info, task.first + j + 1);
  }

  // One column, whose pivot row is arriving in its mailbox.
  template <int Width>
  __device__ __forceinline__ void eliminate(int j) {
    const int lane = threadIdx.x % 32;
    mail.wait(j);
    uint4 v = make_uint4(0, 0, 0, 0);
    if (lane < blocks) v = mail.key(j, lane);
    const int source = __ffs(static_cast<int>(elect({v.x, v.y, v.z}, __reduce_max_sync(~0u, v.x)))) - 1;
    const T* u = mail.row(j, source);
    const T inverse = Mail::element(u, 0), next = Mail::element(u, 1);
    const uint4 key = mail.key(j, source);
    const int p = static_cast<int>(~key.z);
    const T scale = __uint_as_float(key.w);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const T l = a[r][0] * scale * inverse;
      active[r] = place[r] >= j && place[r] != p;
      factor[r] = active[r] ? -l : T(0);
      finished[r] = active[r] ? l : a[r][0];
      a[r][0] = fma(factor[r], next, a[r][1]);
    }
    const auto exchange = [&] {
      note_pivot(j, p, key);
#pragma unroll
      for (int r = 0; r < rows; ++r) place[r] = place[r] == p ? j : place[r] == j ? p : place[r];
    };
    if (j + 1 < columns)
      search_and_send<Width, true>(j + 1, u, exchange);
    else
      exchange();
    T rest[Width];
#pragma unroll
    for (int q = 0; q < Width / quads; ++q) {
      Sixteen<T> x;
      x.bits = Mail::quad(u, q);
#pragma unroll
      for (int e = 0; e < quads; ++e) rest[q * quads + e] = x.x[e];
    }
#pragma unroll
    for (int k = 1; k < Width - 1; ++k)
#pragma unroll
      for (int r = 0; r < rows; ++r) a[r][k] = fma(factor[r], rest[k + 1], a[r][k + 1]);
#pragma unroll
    for (int r = 0; r < rows; ++r) a[r][Width - 1] = finished[r];
  }

  template <int... Chunk>
  __device__ __forceinline__ void eliminate_all(std::integer_sequence<int, Chunk...>) {
    const auto columns_of = [&](auto number) {
      constexpr int first = decltype(number)::value * chunk;
#pragma unroll 1
      for (int j = first; j < first + chunk; ++j) eliminate<columns - first>(j);
    };
    (columns_of(std::integral_constant<int, Chunk>{}), ...);
  }
};

template <class T, class Shape, class Mail>
__global__ void __launch_bounds__(Shape::threads, 1) panel_kernel(const __grid_constant__ PanelTask<T> task) {
  __shared__ typename Shape::Shared s;
  __shared__ typename Mail::Shared mailboxes;
  Mail mail(mailboxes, task);
  mail.open();
  wait_for_previous_kernels();
  allow_next_kernel();
  Panel<T, Shape, Mail> panel(s, task, mail);
  panel.load();
  mail.meet();
  panel.template search_and_send<Shape::columns, false>(0, nullptr, [] {});
  panel.eliminate_all(std::make_integer_sequence<int, Shape::columns / Shape::chunk>{});
  panel.store();
  mail.meet();
}

// Shapes in the order of the rows that they take.
template <class T, class... Shapes>
struct PanelShapes {
  static int width(std::int64_t rows) {
    int width = 0;
    ((width == 0 && rows <= capacity<Shapes> ? void(width = Shapes::columns) : void()), ...);
    return width;
  }
  template <template <class, class> class Mail>
  static void launch(const PanelTask<T>& task, cudaStream_t stream) {
    bool done = false;
    const auto attempt = [&](auto shape) {
      using Shape = decltype(shape);
      if (done || task.rows - task.first > capacity<Shape>) return;
      Mail<T, Shape>::prepare(task, stream);
      cuda::launch("panel_kernel", panel_kernel<T, Shape, Mail<T, Shape>>, Mail<T, Shape>::launch_shape(), stream,
                   task);
      done = true;
    };
    (attempt(Shapes{}), ...);
  }

 private:
  template <class Shape>
  static constexpr std::int64_t capacity = std::int64_t{Shape::rows} * Shape::threads* Shape::blocks;
};

template <class T>
struct ShapesOf {
  template <int Columns, int Rows, int Threads>
  using Of = PanelShape<double, Columns, Rows, Threads>;
  using type =
      PanelShapes<double, Of<16, 1, 64>, Of<16, 2, 128>, Of<16, 2, 256>, Of<16, 4, 256>, Of<8, 8, 256>, Of<4, 16, 256>>;
};
// Fewer, fatter warps win: 1024 threads of one row each take 27 % more time than 256 of four.
template <>
struct ShapesOf<float> {
  template <int Columns, int Rows, int Threads>
  using Of = PanelShape<float, Columns, Rows, Threads>;
  using type = PanelShapes<float, Of<32, 1, 64>, Of<32, 2, 128>, Of<32, 2, 256>, Of<32, 4, 256>, Of<16, 8, 256>,
                           Of<8, 16, 256>, Of<4, 32, 256>>;
};

}  // namespace vernier::cuda
