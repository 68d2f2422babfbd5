// The int8 kernel by mma.sync where a GPU has bulk tensor copies, from compute capability 9.0 on: one thread asks for a
// stage, and a copy of a line takes half of the cycles of shared memory that cp.async takes (docs/decisions.md).
//
// A warp waits for stages, and never for other warps. It alone keeps half of its multiplier busy, whatever the others
// do: so it makes residues of its sums between multiplications, and the two warps of a multiplier are `lag` stages
// apart, so that they do not make them at once.
#pragma once

#include <type_traits>

#include "engine/int8_mma.cuh"

namespace vernier::cuda {

// A tile of C, or its upper or lower half of rows. Warps are told of it with what they reduce its sums by, which they
// would wait for elsewhere.
struct BulkJob {
  int modulus;                                      // or none: behind the last job
  int plane, x, half;                               // the first half tile of rows
  static constexpr int none = -1, alone = 1 << 16;  // added to the modulus: the other half is another job
  static constexpr int bytes = 32;
};

// Behind the stages in shared memory: jobs, and barriers. A stage is there; all warps have read it; the lower half has
// begun.
template <class T>
struct BulkBarriers {
  std::uint32_t behind;

  __device__ __forceinline__ std::uint32_t job(int i) const { return behind + BulkJob::bytes * (i % T::tile.jobs()); }
  __device__ __forceinline__ std::uint32_t full(int slot) const {
    return job(T::tile.jobs() - 1) + BulkJob::bytes + 8 * slot;
  }
  __device__ __forceinline__ std::uint32_t read(int slot) const { return full(T::stages + slot); }
  __device__ __forceinline__ std::uint32_t begun() const { return full(2 * T::stages); }

  // By one thread.
  __device__ __forceinline__ void begin() const {
#pragma unroll
    for (int slot = 0; slot < T::stages; ++slot) {
      barrier_init(full(slot), 1);
      barrier_init(read(slot), T::warps);
    }
    barrier_init(begun(), T::warps / 2);
    fence_barrier_init();
  }
};

// By one thread: stages of one job after another, and an empty one behind the last.
template <class T>
class BulkFeed {
 public:
  __device__ __forceinline__ BulkFeed(const CUtensorMap& columns, const CUtensorMap& rows, std::uint32_t stages,
                                      const MmaReductions& reductions, const MmaTask& task)
      : columns_(columns),
        rows_(rows),
        stages_(stages),
        reductions_(reductions),
        task_(task),
        jobs_(task.grid, blockIdx.x, gridDim.x),
        pacer_(task.pace) {
    find_job();
  }
  __device__ __forceinline__ bool over() const { return over_; }

  // Waits until all warps have read what was there.
  __device__ __forceinline__ void copy() {
    const BulkBarriers<T> barriers{stages_ + T::stages * T::stage_bytes};
    const std::uint32_t full = barriers.full(at_.stage);
    barrier_wait(barriers.read(at_.stage), at_.parity);
    if (step_ == 0) tell(barriers.job(told_++));
    if (job_.modulus == BulkJob::none) {
      barrier_arrive(full);
      over_ = true;
      if constexpr (T::tile.keeps_pace()) pacer_.end();
      return;
    }
    constexpr int half_bytes = T::rows / 2 * T::depth;
    const bool alone = (job_.modulus & BulkJob::alone) != 0;
    const std::uint32_t to = stages_ + at_.stage * T::stage_bytes;
    if constexpr (T::tile.keeps_pace()) pacer_.before(step_);
    const int byte = step_ * T::depth, row = job_.half * (T::rows / 2);
    barrier_expect(full, alone ? T::stage_bytes - half_bytes : T::stage_bytes);
    load_box(to, &columns_, full, byte, job_.x * T::columns, job_.plane);
    load_box(to + T::x_bytes, &rows_, full, byte, row, job_.plane);
    if (!alone) load_box(to + T::x_bytes + half_bytes, &rows_, full, byte, row + T::rows / 2, job_.plane);
    at_.advance();
    if (++step_ < task_.steps) return;
    step_ = 0;
    jobs_.advance();
    find_job();
  }

 private:
  __device__ __forceinline__ void find_job() {
    if (jobs_.done()) {
      job_.modulus = BulkJob::none;
      return;
    }
    const int beyond = jobs_.id() - task_.whole;
    const TileJob tile = job_of(beyond < 0 ? jobs_.id() : task_.whole + beyond / 2, task_.grid);
    reduction_ = reductions_.of[tile.plane / task_.products];
    job_ = {-reduction_.minus_modulus, tile.plane, tile.x, 2 * tile.y};
    if (beyond < 0) return;
    job_.modulus |= BulkJob::alone;
    job_.half += beyond % 2;
  }

  __device__ __forceinline__ void tell(std::uint32_t to) const {
    store_shared(to, make_int4(job_.modulus, job_.plane, job_.x, job_.half));
    store_shared(to + 16, make_int4(static_cast<int>(reduction_.weights[0]), reduction_.start,
                                    std::bit_cast<int>(reduction_.inverse), std::bit_cast<int>(reduction_.bias)));
  }

  const CUtensorMap &columns_, &rows_;
  std::uint32_t stages_;
  const MmaReductions& reductions_;
  const MmaTask& task_;
  typename T::Jobs jobs_;
  BulkJob job_{};
  ByteReduction<1> reduction_{};
  RingPlace<T::stages> at_{0, 1};  // the parity of a round that ended before the first one
  int step_ = 0, told_ = 0;
  bool over_ = false;
  Pacer pacer_;
};

// A job as a warp was told of it: its reduction, and its first unit.
template <class T>
struct BulkEnd {
  ByteReduction<1> reduction{};
  int plane = 0, across = 0, down = 0;

  __device__ __forceinline__ explicit BulkEnd(std::uint32_t told) {
    const int4 job = load_shared_quad(told), by = load_shared_quad(told + 16);
    reduction = {{static_cast<std::uint32_t>(by.x)},
                 by.y,
                 std::bit_cast<float>(by.z),
                 std::bit_cast<float>(by.w),
                 -(job.x & (BulkJob::alone - 1))};
    const int warp = static_cast<int>(threadIdx.x) / 32;
    plane = job.y;
    across = job.z * (T::columns / unit_columns) + warp % T::warps_across;
    down = (job.w * (T::rows / 2) + warp / T::warps_across * mma_warp_side) / unit_rows;
  }
};

// What is made of a tile's sums: 16 columns by 16 rows at a time, between multiplications, from which no branch parts
// it.
template <class T>
class ResiduesBetween {
 public:
  __device__ __forceinline__ explicit ResiduesBetween(const MmaTask& task) : task_(task) {}
  __device__ __forceinline__ void begin(const BulkEnd<T>& end) {
    reduction_ = end.reduction;
    unit_ = static_cast<std::uint32_t>((end.plane * task_.units_across + end.across) * task_.units_down + end.down);
    units_ = end.across < task_.units_across ? task_.units_down - end.down : 0;
  }
  __device__ __forceinline__ void make(const MmaSums& sums, int r, int c) {
    const std::uint32_t first = four_residues<false>(sums.of[c][2 * r], reduction_),
                        second = four_residues<false>(sums.of[c][2 * r + 1], reduction_);
    if (r % 2 == 0)
      half_[c][0] = first, half_[c][1] = second;
    else
      store_if(
          r / 2 < units_,
          reinterpret_cast<uint4*>(task_.out + std::uint64_t{unit_ + r / 2} * unit_bytes) + threadIdx.x % 32 + 32 * c,
          make_uint4(half_[c][0], half_[c][1], first, second));
  }
  // What is left behind a tile.
  __device__ __forceinline__ void make_last(const MmaSums& sums) {
#pragma unroll
    for (int c = 0; c < 4; ++c) make(sums, mma_warp_side / 16 - 1, c);
    units_ = 0;
  }

 private:
  const MmaTask& task_;
  ByteReduction<1> reduction_{};
  std::uint32_t unit_ = 0;         // of all planes
  int units_ = 0;                  // that exist
  std::uint32_t half_[4][2] = {};  // of a unit's first 16 rows
};

// Where they are made behind a tile.
struct NoResidues {
  __device__ explicit NoResidues(const MmaTask&) {}
  __device__ void make(const MmaSums&, int, int) const {}
  __device__ void make_last(const MmaSums&) const {}
};

enum class StageOf { middle, first, last };  // stages of a tile

// Fragments of 32 bytes of k: those of columns are replaced behind their last use, of rows there are two sets.
template <class T>
class RollingFragments {
 public:
  static constexpr int rows = mma_warp_side / 16, parts = T::depth / 32;
  static_assert(rows % 2 == 0);

  __device__ __forceinline__ void begin(const MmaPlace<T>& at) {
    at.load_y(y_[0], 0, 0);
#pragma unroll
    for (int c = 0; c < 4; ++c) at.load_x(x_[c], 0, c);
  }
  // A stage, and the first fragments of the next one, to which next_stage() goes on. Between the multiplications of a
  // tile's last part its sums become residues as soon as they are complete; the last of them beside the next tile's
  // first part, which begins from zero.
  template <StageOf Stage, class Residues, class NextStage>
  __device__ __forceinline__ void multiply(MmaPlace<T>& at, MmaSums& sums, Residues& residues, NextStage next_stage) {
#pragma unroll
    for (int part = 0; part < parts; ++part)
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        constexpr bool first_stage = Stage == StageOf::first, last_stage = Stage == StageOf::last;
        const bool last = r == rows - 1;
        const int next = (part + (last ? 1 : 0)) % parts;
        if (last && next == 0) next_stage();
        at.load_y(y_[(r + 1) % 2], next, last ? 0 : r + 1);
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const std::uint32_t(&y)[4] = y_[r % 2];
          if (first_stage && part == 0) {
            mma_unsigned_bytes<true>(sums.of[c][2 * r], x_[c], y[0], y[1]);
            mma_unsigned_bytes<true>(sums.of[c][2 * r + 1], x_[c], y[2], y[3]);
          } else {
            mma_unsigned_bytes(sums.of[c][2 * r], x_[c], y[0], y[1]);
            mma_unsigned_bytes(sums.of[c][2 * r + 1], x_[c], y[2], y[3]);
          }
          if (last) at.load_x(x_[c], next, c);
          if (first_stage && part == 0 && r == 0) residues.make(sums, rows - 1, c);
          if (last_stage && part == parts - 1 && r > 0) residues.make(sums, r - 1, c);
        }
      }
  }

 private:
  std::uint32_t x_[4][4], y_[2][4];  // [16 columns or rows][matrix]
};

// A warp's part of the block's tiles. Between: residues are made between multiplications, of two stages at least, and
// added to nothing.
template <class T, bool Between>
__device__ __forceinline__ void multiply_stages(int warp, std::uint32_t stages, const MmaTask& task) {
  const BulkBarriers<T> barriers{stages + T::stages * T::stage_bytes};
  const bool first = threadIdx.x % 32 == 0, upper = warp >= T::warps / 2;
  if (T::tile.lag > 0 && upper) barrier_wait(barriers.begun(), 0);
  MmaPlace<T> at(stages, warp);
  const auto next_stage = [&] {
    __syncwarp();  // the warp's fragments of this stage are in registers
    if (first) barrier_arrive(barriers.read(at.slot()));
    at.advance();
    barrier_wait(barriers.full(at.slot()), at.parity());
  };
  MmaSums sums;
  RollingFragments<T> fragments;
  std::conditional_t<Between, ResiduesBetween<T>, NoResidues> residues(task);
  const auto multiply = [&](auto stage) {
    fragments.template multiply<decltype(stage)::value>(at, sums, residues, next_stage);
  };
  barrier_wait(barriers.full(0), 0);
  sums.clear();
  fragments.begin(at);
#pragma unroll 1
  for (int tile = 0;; ++tile) {
    const int modulus = load_shared(barriers.job(tile));
    if (modulus == BulkJob::none) break;
    if (upper && (modulus & BulkJob::alone) != 0) {  // nothing for these warps
      residues.make_last(sums);
#pragma unroll 1
      for (int left = task.steps; left > 0; --left) next_stage();
      fragments.begin(at);
      continue;
    }
    multiply(std::integral_constant<StageOf, StageOf::first>());
    if (T::tile.lag > 0 && tile == 0 && !upper && first) barrier_arrive(barriers.begun());
#pragma unroll 1
    for (int left = task.steps - (Between ? 2 : 1); left > 0; --left)
      multiply(std::integral_constant<StageOf, StageOf::middle>());
    const BulkEnd<T> end(barriers.job(tile));
    if constexpr (Between) {
      residues.begin(end);
      multiply(std::integral_constant<StageOf, StageOf::last>());
    } else {
      sums.store(task, end.reduction, end.plane, end.across, end.down);
      fragments.begin(at);  // not kept meanwhile
    }
  }
  residues.make_last(sums);
}

// What a block does before its operands are there.
template <class T>
__device__ __forceinline__ void begin_bulk_tiles(const CUtensorMap& columns, const CUtensorMap& rows,
                                                 std::uint32_t stages) {
  if (threadIdx.x == 0) {
    prefetch_tensor_map(&columns);
    prefetch_tensor_map(&rows);
    BulkBarriers<T>{stages + T::stages * T::stage_bytes}.begin();
  }
  __syncthreads();
}

// A block: its warps, and one more that has the copies made.
template <class T, bool Between>
__device__ __forceinline__ void multiply_bulk_tiles(const CUtensorMap& columns, const CUtensorMap& rows,
                                                    std::uint32_t stages, const MmaReductions& reductions,
                                                    const MmaTask& task) {
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
  if (typename T::Jobs(task.grid, blockIdx.x, gridDim.x).done()) return;
  if (warp < T::warps) return multiply_stages<T, Between>(warp, stages, task);
  if (threadIdx.x % 32 != 0) return;
  BulkFeed<T> feed(columns, rows, stages, reductions, task);
  while (!feed.over()) feed.copy();
}

}  // namespace vernier::cuda
