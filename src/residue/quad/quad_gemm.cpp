#include "residue/quad/quad_gemm.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "base/environment.hpp"
#include "base/workspace.hpp"
#include "product/operand.hpp"
#include "residue/backend.hpp"
#include "residue/convert/digits.hpp"
#include "residue/gemm.hpp"
#include "residue/plan/blocking.hpp"
#include "residue/product_items.hpp"
#include "residue/quad/quad_writer.hpp"

namespace vernier {
namespace {

// Memory of one thread.
struct ThreadMemory {
  double* strip;                // parts of a strip's slice
  const PartStrip* whole = {};  // those of the strip at hand; null: not known
  void* scratch;
  EntryMemory entry;
};

struct Blocks {
  std::int64_t m = 0, n = 0;
};

// Where residues of an operand go.
struct QuadPlanes {
  PanelLayout layout;
  std::int8_t* planes;
  std::size_t stride;
};

Blocks choose_blocks(std::int64_t m, std::int64_t n, std::int64_t k, int moduli, std::size_t limit) {
  const auto bytes = [&](std::int64_t rows, std::int64_t columns) {
    return static_cast<double>(moduli) *
           (static_cast<double>(rows + columns) * static_cast<double>(round_up(k, step_size)) +
            static_cast<double>(rows) * static_cast<double>(columns));
  };
  Blocks b{round_up(m, strip_size), round_up(n, strip_size)};
  while (bytes(b.m, b.n) > static_cast<double>(limit) && (b.m > strip_size || b.n > strip_size))
    (b.m >= b.n ? b.m : b.n) = round_up((std::max(b.m, b.n) + 1) / 2, strip_size);
  return b;
}

// Most products of dd take the moduli that are tried first. So a strip is converted for these as soon as it has been
// measured, while it lies in a cache, until vectors show that they prove too little.
struct QuadGuess {
  int moduli = 0;  // 0: there is none
  QuadSize size;
  std::optional<DigitTables> rows, columns;
  std::vector<int> scales[2];  // of A and B
  std::atomic<bool> fails = false;

  template <class TC>
  explicit QuadGuess(const QuadProblem<TC>& p) {
    if (p.goal.exact() || p.a.parts() != 2 || p.b.parts() != 2) return;
    if ((moduli = likely_moduli(p.goal)) == 0) return;
    size = likely_size(moduli);
    const int limbs = limbs_for_exponent(exponent_of_value(size.norm) + 1);
    rows.emplace(residue_system(moduli), PanelSide::rows, false, limbs);
    columns.emplace(residue_system(moduli), PanelSide::columns, false, limbs);
    scales[0].resize(static_cast<std::size_t>(p.a.vectors)), scales[1].resize(static_cast<std::size_t>(p.b.vectors));
  }
  bool holds(int used, const QuadSide& x, int side) const {
    const auto same = [](const QuadScale& s, int scale) { return s.scale == scale; };
    return moduli == used && !fails && std::equal(x.scales.begin(), x.scales.end(), scales[side].begin(), same);
  }
};

template <class TC>
class QuadRun {
 public:
  QuadRun(const QuadProblem<TC>& problem, const QuadMachine& machine, QuadReport& report)
      : p_(problem),
        machine_(machine),
        report_(report),
        backend_(backend_of<double>(machine.engine)),
        k_(problem.a.k),
        guess_(problem),
        a_(measured(problem.a, guess_.rows, 0)),
        b_(measured(problem.b, guess_.columns, 1)),
        plan_(
            plan_quad(a_, b_, problem.a.k, problem.goal, [&] { return sample_product(problem.a, a_, problem.b, b_); })),
        tables_(residue_system(plan_.moduli)),
        a_tiles_(tiles_of(a_)),
        b_tiles_(tiles_of(b_)) {}

  void run() {
    describe();
    const ResidueSystem& system = residue_system(plan_.moduli);
    const DigitTables rows(system, PanelSide::rows, false, limbs_of(a_)),
        columns(system, PanelSide::columns, false, limbs_of(b_));
    if (plan_.moduli != guess_.moduli) reserve(plan_.moduli);
    const bool rows_there = is_whole(0) && guess_.holds(plan_.moduli, a_, 0),
               columns_there = is_whole(1) && guess_.holds(plan_.moduli, b_, 1);
    for (std::int64_t i = 0; i < p_.a.vectors; i += blocks_.m) {
      const Range row_range{i, std::min(blocks_.m, p_.a.vectors - i)};
      for (std::int64_t j = 0; j < p_.b.vectors; j += blocks_.n)
        run_block(row_range, {j, std::min(blocks_.n, p_.b.vectors - j)}, !rows_there && j == 0,
                  !columns_there && (i == 0 || !is_whole(1)), rows, columns);
    }
    for (const ThreadMemory& t : threads_) report_.looked_at += t.entry.looked_at, report_.summed += t.entry.summed;
  }

 private:
  // Limbs of a sum of parts; of two, each has half of the leading limb.
  static int limbs_of(const QuadSide& x) { return limbs_for_exponent(x.largest_exponent() + (x.parts == 1 ? 0 : 1)); }

  // Measures a side, 0 or 1, and converts it as guessed.
  QuadSide measured(const QuadOperand& x, const std::optional<DigitTables>& tables, int side) {
    if (side == 0 && guess_.moduli != 0) reserve(guess_.moduli);
    if (guess_.moduli == 0 || guess_.fails || !is_whole(side)) return measure_side(x, backend_, machine_.threads);
    const QuadPlanes to{panel_layout(x.vectors, k_), planes_[side], stride_[side]};
    const auto convert = [&](std::int64_t first, std::int64_t count, const QuadVector* vectors,
                             const PartStrip* parts) {
      int scales[strip_size] = {};
      for (std::int64_t v = 0; v < count; ++v) {
        QuadScale s;
        set_quad_scale(vectors[v], {k_, x.parts(), guess_.size, side == 0}, s);
        scales[v] = s.scale;
        if (s.error.rounded > 0 && s.error.floor == 0) guess_.fails = true;
      }
      std::copy_n(scales, count, guess_.scales[side].begin() + first);
      if (guess_.fails) return;
      ThreadMemory& own = threads_[to_index(omp_get_thread_num())];
      own.whole = parts;
      convert_strip(x, vectors, scales, to, first, first / strip_size, *tables, own);
      own.whole = nullptr;
    };
    return measure_side(x, backend_, machine_.threads, convert);
  }

  void describe() {
    report_.bits_a = a_.largest_exponent() + 1;
    report_.bits_b = b_.largest_exponent() + 1;
    report_.moduli = plan_.moduli;
    report_.integers = plan_.integers;
  }

  // ---- memory
  // Whether one block has all vectors of a side.
  bool is_whole(int side) const { return side == 0 ? blocks_.m >= p_.a.vectors : blocks_.n >= p_.b.vectors; }
  void reserve(int moduli) {
    memory_.reset();
    blocks_ = choose_blocks(p_.a.vectors, p_.b.vectors, k_, moduli, machine_.limit);
    memory_.emplace(carve(Arena{}, static_cast<std::size_t>(moduli)).used());
    carve(memory_->arena(), static_cast<std::size_t>(moduli));
  }
  Arena carve(Arena arena, std::size_t moduli) {
    stride_[0] = plane_stride(panel_layout(blocks_.m, k_).bytes());
    stride_[1] = plane_stride(panel_layout(blocks_.n, k_).bytes());
    c_stride_ = plane_stride(blocks_.m * blocks_.n);
    planes_[0] = arena.take<std::int8_t>(moduli * stride_[0]);
    planes_[1] = arena.take<std::int8_t>(moduli * stride_[1]);
    c_planes_ = arena.take<std::int8_t>(moduli * c_stride_);
    threads_.resize(static_cast<std::size_t>(machine_.threads));
    for (ThreadMemory& t : threads_) {
      t.strip = arena.take<double>(static_cast<std::size_t>(most_parts * part_length(longest_slice)));
      for (int p = 0; p < most_parts; ++p) {
        t.entry.row.part[p] = arena.take<double>(static_cast<std::size_t>(k_));
        t.entry.column.part[p] = arena.take<double>(static_cast<std::size_t>(k_));
      }
      t.scratch = arena.take<std::byte>(machine_.engine.scratch_bytes());
    }
    return arena;
  }

  // ---- one block of C
  void run_block(Range rows, Range columns, bool convert_rows, bool convert_columns, const DigitTables& row_tables,
                 const DigitTables& column_tables) {
#pragma omp parallel num_threads(machine_.threads)
    {
      const FloatingEnvironment environment;
      machine_.engine.enter_thread();
      ThreadMemory& own = threads_[static_cast<std::size_t>(omp_get_thread_num())];
      if (convert_rows)
        convert(p_.a, a_, rows, row_tables, {panel_layout(rows.count, k_), planes_[0], stride_[0]}, own);
      if (convert_columns)
        convert(p_.b, b_, columns, column_tables, {panel_layout(columns.count, k_), planes_[1], stride_[1]}, own);
#pragma omp barrier
      multiply(rows, columns, own);
      const std::int64_t row_strips = divide_up(rows.count, strip_size),
                         tiles = row_strips * divide_up(columns.count, strip_size);
#pragma omp for schedule(dynamic, 4)
      for (std::int64_t t = 0; t < tiles; ++t) finish_tile(rows, columns, t % row_strips, t / row_strips, own.entry);
      machine_.engine.leave_thread();
    }
  }

  void convert(const QuadOperand& x, const QuadSide& side, Range vectors, const DigitTables& tables,
               const QuadPlanes& to, ThreadMemory& own) const {
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t strip = 0; strip < to.layout.strips; ++strip) {
      const std::int64_t first = vectors.begin + strip * strip_size;
      int scales[strip_size] = {};
      for (std::int64_t v = 0; v < std::min<std::int64_t>(strip_size, x.vectors - first); ++v)
        scales[v] = side.scales[static_cast<std::size_t>(first + v)].scale;
      convert_strip(x, side.vectors.data() + first, scales, to, first, strip, tables, own);
    }
  }

  void convert_strip(const QuadOperand& x, const QuadVector* facts, const int* scales, const QuadPlanes& to,
                     std::int64_t first, std::int64_t strip, const DigitTables& tables, ThreadMemory& own) const {
    const PanelLayout& layout = to.layout;
    const bool nonfinite = std::any_of(facts, facts + std::min<std::int64_t>(strip_size, x.vectors - first),
                                       [](const QuadVector& v) { return v.nonfinite; });
    for (std::int64_t slice = 0; slice < layout.slices(); ++slice) {
      const std::int64_t begin = slice * layout.slice_steps, steps = layout.steps_of(slice),
                         k_begin = begin * step_size, length = std::min(steps * step_size, k_ - k_begin);
      const PartStrip parts = own.whole != nullptr ? own.whole->slice(k_begin, length)
                                                   : x.strip(first, k_begin, length, facts, *backend_.dd, own.strip);
      backend_.decompose_sum(parts.part, parts.parts, tables,
                             {.scales = scales,
                              .planes = to.planes + layout.offset(strip, begin),
                              .plane_bytes = to.stride,
                              .layout = {1, steps, steps},
                              .has_nonfinite = nonfinite,
                              .cached = false});
    }
  }

  void multiply(Range rows, Range columns, ThreadMemory& own) const {
    const PanelLayout a = panel_layout(rows.count, k_), b = panel_layout(columns.count, k_);
    // Long items read B from memory less often, short ones keep many threads at work to the end.
    constexpr std::int64_t long_item = 32, short_item = 8, items_of_a_thread = 8;
    const int threads = omp_get_num_threads();
    const bool enough = plan_.moduli * (a.strips / long_item) >= items_of_a_thread * threads;
    const ProductItems items(plan_.moduli, {a.strips, b.strips}, {enough ? long_item : short_item, b.strips}, threads);
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t index = 0; index < items.count(); ++index) {
      const ProductItem item = items.at(index);
      const auto q = static_cast<std::size_t>(item.plane);
      for (std::int64_t slice = 0; slice < a.slices(); ++slice) {
        const std::int64_t begin = slice * a.slice_steps;
        machine_.engine.multiply({.columns = planes_[1] + q * stride_[1] + b.offset(0, begin),
                                  .column_strips = b.strips,
                                  .rows = planes_[0] + q * stride_[0] + a.offset(item.first, begin),
                                  .row_strips = item.strips,
                                  .steps = a.steps_of(slice),
                                  .modulus = moduli[q],
                                  .accumulate = slice > 0,
                                  .out = c_planes_ + q * c_stride_ + item.first * block_elements,
                                  .out_strips = a.strips,
                                  .scratch = own.scratch});
      }
    }
  }

  // ---- entries
  void finish_tile(Range rows, Range columns, std::int64_t v, std::int64_t t, EntryMemory& own) const {
    const QuadState state{a_, b_, tables_, c_stride_};
    QuadWriter<TC> writer(p_, state);
    const std::int8_t* residues = c_planes_ + (t * divide_up(rows.count, strip_size) + v) * block_elements;
    LeadingTile tile;
    backend_.recombine_leading(tables_, residues, c_stride_, tile);
    const QuadTile at{rows.begin + v * strip_size, columns.begin + t * strip_size, tile, residues};
    if constexpr (std::is_same_v<TC, dd>)
      if (writer.rounds_tiles()) {
        DdTile rounded;
        backend_.dd->round_tile(
            tile, writer.task(a_tiles_[to_index(at.i0 / strip_size)], b_tiles_[to_index(at.j0 / strip_size)]), rounded);
        return writer.put(at, rounded, *backend_.dd, own);
      }
    writer.write_all(at, own);
  }

  static std::size_t to_index(std::int64_t x) { return static_cast<std::size_t>(x); }

  const QuadProblem<TC>& p_;
  const QuadMachine& machine_;
  QuadReport& report_;
  const SchemeBackend<double>& backend_;
  const std::int64_t k_;
  Blocks blocks_;
  std::optional<Workspace> memory_;
  std::size_t stride_[2] = {}, c_stride_ = 0;
  std::int8_t *planes_[2] = {}, *c_planes_ = nullptr;
  std::vector<ThreadMemory> threads_;
  QuadGuess guess_;
  QuadSide a_, b_;
  const QuadPlan plan_;
  const RecombineTables tables_;
  const std::vector<TileVectors> a_tiles_, b_tiles_;
};

}  // namespace

template <class TC>
void quad_product(const QuadProblem<TC>& problem, const QuadMachine& machine, QuadReport& report) {
  const FloatingEnvironment environment;
  QuadRun<TC>(problem, machine, report).run();
}

template void quad_product(const QuadProblem<dd>&, const QuadMachine&, QuadReport&);
#if defined(__SIZEOF_FLOAT128__)
template void quad_product(const QuadProblem<binary128>&, const QuadMachine&, QuadReport&);
#endif

}  // namespace vernier
