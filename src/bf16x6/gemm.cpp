#include "bf16x6/blocking.hpp"

#include <omp.h>

#include <atomic>
#include <mutex>

#include "base/environment.hpp"
#include "engine/panel.hpp"
#include "number/ieee754.hpp"
#include "product/progress.hpp"
#include "product/stage_clock.hpp"

namespace vernier {

#if VERNIER_X86

namespace {

// Elements of C from which its lines are written past the caches.
constexpr std::int64_t large_c = std::int64_t{1} << 21;

class Bf16x6Run {
 public:
  Bf16x6Run(const Bf16x6Engine& engine, const Bf16x6Blocking& blocking, const GemmProblem<float>& problem,
            const Bf16x6Buffers& buffers, Progress& progress, Report& report)
      : engine_(engine), b_(blocking), problem_(problem), buffers_(buffers), progress_(progress), report_(report) {}

  // Shared among the threads of a parallel region.
  void run() {
    StageClock clock;
    measure(problem_.a);
    split_columns(0, true);
#pragma omp barrier
    if (!all_.fits()) {
      choose_scales();
      if (!fits_) return;
      split_columns(0, false);
#pragma omp barrier
    }
    clock.lap(report_.seconds_residues);
    engine_.enter_thread();
    for (std::int64_t j = 0; j < b_.shape.n; j += b_.n_block) {
      if (j > 0) {
        split_columns(j, false);
#pragma omp barrier
        clock.lap(report_.seconds_residues);
      }
      multiply(j);
      clock.lap(report_.seconds_products);
    }
    engine_.leave_thread();
  }

  bool fits() const { return fits_; }

 private:
  void join(const PartRange& range) {
    const std::lock_guard lock(range_mutex_);
    all_.join(range);
  }

  // All of an operand, in pieces of some lines.
  void measure(const Operand<float>& x) {
    const std::int64_t lines = x.k_contiguous ? x.vectors : x.k, length = x.k_contiguous ? x.k : x.vectors;
    const std::int64_t piece = std::max<std::int64_t>(1, 65536 / length);
    PartRange range;
#pragma omp for schedule(static) nowait
    for (std::int64_t first = 0; first < lines; first += piece)
      range.join(line_range(x, first, std::min(piece, lines - first)));
    join(range);
  }

  // The columns of a block, from j on. The first time they are measured, unless later blocks are still to come: then
  // all columns are.
  void split_columns(std::int64_t j, bool first) {
    const std::int64_t columns = std::min(b_.n_block, b_.shape.n - j), strips = divide_up(columns, bf16x6_strip);
    const bool all = columns == b_.shape.n;
    if (first && !all) measure(problem_.b);
    const bool seen = first && all;
    PartRange range;
#pragma omp for schedule(dynamic, 1) collapse(2) nowait
    for (std::int64_t t = 0; t < strips; ++t)
      for (std::int64_t group = 0; group < b_.groups; ++group) {
        const Bf16x6Task task{problem_.b, scaled_ ? buffers_.vectors.b.factors : nullptr, columns_at(t, group)};
        split_part_columns(task, j + t * bf16x6_strip, group * bf16x6_group, chunks_of(group), seen ? &range : nullptr);
      }
    if (seen) join(range);
  }

  // Powers of two for all vectors, where the elements as they are do not fit.
  void choose_scales() {
#pragma omp single
    {
      scaled_ = true;
      fits_ = all_.finite();
    }
    if (!fits_) return;
    for (const Side side : both_sides) scale_vectors(problem_.operand(side), buffers_.vectors[side]);
#pragma omp barrier
#pragma omp single
    fits_ = !misfit_;
  }

  void scale_vectors(const Operand<float>& x, const Bf16x6Buffers::Vectors& to) {
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t first = 0; first < x.vectors; first += bf16x6_strip) {
      const std::int64_t count = std::min<std::int64_t>(bf16x6_strip, x.vectors - first);
      vector_ranges(x, first, count, to.ranges + first);
      for (std::int64_t v = first; v < first + bf16x6_strip; ++v) {
        const PartScale scale = v < first + count ? part_scale(to.ranges[v]) : PartScale{0, true};
        if (!scale.fits) misfit_ = true;
        to.factors[v] = power_of_two(scale.exponent);
        to.exponents[v] = static_cast<float>(-scale.exponent);
      }
    }
  }

  void multiply(std::int64_t j) {
    const std::int64_t columns = std::min(b_.n_block, b_.shape.n - j), strips = divide_up(columns, bf16x6_strip);
    const std::int64_t in_range = divide_up(strips, b_.column_ranges);
#pragma omp for schedule(dynamic, 1) collapse(2)
    for (std::int64_t block = 0; block < b_.row_blocks; ++block)
      for (std::int64_t range = 0; range < b_.column_ranges; ++range) {
        const std::int64_t begin = range * in_range, end = std::min(begin + in_range, strips);
        if (begin < end) multiply_task(block * b_.row_block, j, begin, end);
        tell_progress();
      }
  }

  void tell_progress() {
    if (!progress_.wanted()) return;
    const std::int64_t all = b_.row_blocks * b_.column_ranges * divide_up(b_.shape.n, b_.n_block);
    progress_.at(WorkShare{}.at(++tasks_done_, all), engine_);
  }

  // Rows from i on, column strips begin to end of the block at j.
  void multiply_task(std::int64_t i, std::int64_t j, std::int64_t begin, std::int64_t end) {
    const std::int64_t rows = std::min(b_.row_block, b_.shape.m - i), strips = divide_up(rows, bf16x6_strip);
    if (rows <= 0) return;
    const Bf16x6Buffers::Thread memory = buffers_.of_thread(omp_get_thread_num(), b_);
    PartProduct p{.rows = memory.rows, .row_strips = strips, .scratch = memory.scratch};
    for (std::int64_t group = 0; group < b_.groups; ++group) {
      const Bf16x6Task task{problem_.a, scaled_ ? buffers_.vectors.a.factors : nullptr, memory.rows};
      split_part_rows(task, i, strips, group * bf16x6_group, chunks_of(group));
      p.chunks = chunks_of(group);
      p.first_group = group == 0;
      p.last_group = group + 1 == b_.groups;
      for (std::int64_t t = begin; t < end; ++t) {
        p.columns = columns_at(t, group);
        p.next_columns = columns_at(t + 1 < end ? t + 1 : t, group);
        p.sums = memory.sums[t % 2];
        if (memory.totals != nullptr) p.totals = memory.totals + (t - begin) * strips * (bf16x6_strip * bf16x6_strip);
        engine_.multiply(p);
        if (p.last_group) p.pending = output(p.sums, i, rows, j + t * bf16x6_strip);
      }
    }
    p.chunks = 0;
    engine_.multiply(p);
  }

  Bf16x6Output output(const float* sums, std::int64_t i, std::int64_t rows, std::int64_t j) const {
    constexpr std::int64_t line = 64 / sizeof(float);
    const Output<float> to = problem_.to.at(i, j);
    const bool lines = reinterpret_cast<std::uintptr_t>(to.c) % 64 == 0 && to.ldc % line == 0 && rows % line == 0;
    return {.sums = sums,
            .to = to,
            .rows = rows,
            .columns = std::min<std::int64_t>(bf16x6_strip, b_.shape.n - j),
            .row_exponents = scaled_ ? buffers_.vectors.a.exponents + i : nullptr,
            .column_exponents = scaled_ ? buffers_.vectors.b.exponents + j : nullptr,
            .stream = lines && to.beta == 0 && b_.shape.m * b_.shape.n > large_c};
  }

  int chunks_of(std::int64_t group) const {
    return static_cast<int>(std::min<std::int64_t>(bf16x6_group_chunks, b_.chunks - group * bf16x6_group_chunks));
  }

  std::byte* columns_at(std::int64_t strip, std::int64_t group) const {
    return buffers_.columns + (strip * b_.chunks + group * bf16x6_group_chunks) * bf16x6_chunk_bytes;
  }

  const Bf16x6Engine& engine_;
  const Bf16x6Blocking& b_;
  const GemmProblem<float>& problem_;
  const Bf16x6Buffers& buffers_;
  Progress& progress_;
  Report& report_;
  PartRange all_;
  std::mutex range_mutex_;  // base/shared_result.hpp: no critical section
  bool scaled_ = false, fits_ = true;
  std::atomic<bool> misfit_ = false;
  std::atomic<std::int64_t> tasks_done_ = 0;
};

}  // namespace

bool bf16x6_gemm(const Bf16x6Engine& engine, const Bf16x6Blocking& blocking, const GemmProblem<float>& problem,
                 const Options& options, Report& report) {
  const Workspace workspace(blocking.bytes, options.workspace);
  Arena arena = workspace.arena();
  const Bf16x6Buffers buffers = carve_bf16x6(arena, blocking);
  Progress progress(options.progress);
  Bf16x6Run run(engine, blocking, problem, buffers, progress, report);
#pragma omp parallel num_threads(blocking.threads)
  {
    const FloatingEnvironment environment;
    run.run();
  }
  if (run.fits()) progress.finish();
  return run.fits();
}

#else

bool bf16x6_gemm(const Bf16x6Engine&, const Bf16x6Blocking&, const GemmProblem<float>&, const Options&, Report&) {
  return false;  // there are no tiles
}

#endif

}  // namespace vernier
