#include "residue/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "base/cpu_features.hpp"
#include "engine/panel.hpp"
#include "number/moduli.hpp"
#include "product/plan/halving.hpp"
#include "product/plan/measured_rates.hpp"
#include "residue/plan/blocking.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/plan/cost.hpp"
#include "residue/residues.hpp"

namespace vernier {

std::size_t vector_bytes(const ProductShape& shape, int threads, bool exact) {
  Arena count;
  carve_vectors(count, shape, threads, exact);
  return count.used();
}

void describe_residues(ResiduePlan& plan) {
  const int moduli = plan.speculative ? SpeculativeProduct::moduli : plan.ordinary.moduli;  // of most data
  describe_residues(plan, plan.engine->name(), moduli, plan.ordinary);
}

ResiduePlan with_prepared(const ResiduePlan& plan, const PreparedSides& prepared) {
  ResiduePlan with = plan;
  with.speculative.reset();
  with.ordinary = choose_blocking(plan.shape, plan.ordinary.moduli, plan.printable.threads, *plan.engine,
                                  plan.most_pass_bytes, prepared);
  if (with.ordinary.bytes > plan.most_pass_bytes) with.ordinary = plan.ordinary;
  with.pass_bytes = std::max(with.ordinary.bytes, plan.least_pass_bytes);
  describe_residues(with);
  return with;
}

namespace {

void set_digits(Pass& pass, int exponent) {
  pass.narrow = exponent <= narrow_exponent;
  for (pass.limbs = 1; exponent > largest_exponent(pass.limbs);) ++pass.limbs;
}

}  // namespace

Pass ordinary_pass(const ResiduePlan& plan) {
  Pass pass;
  pass.blocking = plan.ordinary;
  set_digits(pass, plan.rule.largest_exponent);
  return pass;
}

Pass first_pass(const ResiduePlan& plan, const SpeculativeScales& scales) {
  Pass pass;
  pass.speculative = scales;
  pass.blocking =
      choose_blocking(plan.shape, SpeculativeProduct::moduli, plan.printable.threads, *plan.engine, plan.pass_bytes);
  set_digits(pass, scales.rule.largest_exponent);
  return pass;
}

// No entry is wide, so that update() writes all entries of a block.
Pass repair_pass(const ResiduePlan& plan, const SpeculativeScales& scales) {
  Pass pass = ordinary_pass(plan);
  pass.speculative = scales;
  pass.speculative->certain = std::numeric_limits<double>::infinity();
  pass.every_entry = false;
  pass.open_only = true;
  return pass;
}

bool bound_may_win(const ResiduePlan& plan, bool tiles) {
  constexpr int least_moduli = 12;
  const int threads = plan.printable.threads;
  if (plan.native != NativeUse::for_speed) return true;
  return bound_seconds(plan.shape, tiles, threads) +
             residue_seconds(plan.engine->name(), plan.shape, least_moduli, threads) <
         native_seconds(plan.shape, plan.single_precision, threads);
}

PassList plan_passes(const ResiduePlan& plan, const Scaling& scaling) {
  const int threads = plan.printable.threads;
  const auto wide = [&](int moduli) {
    Pass pass;
    pass.ordinary = false;
    set_digits(pass, scaling.wide_exponent);
    pass.blocking = choose_blocking(plan.shape, moduli, threads, *plan.engine, plan.pass_bytes);
    return pass;
  };
  const auto slower = [&](const PassList& list) {
    double seconds = 0;
    for (int i = 0; i < list.count; ++i) {
      ProductShape shape = plan.shape;
      if (!list.pass[i].ordinary &&
          scaling.any_ordinary)  // wide rows against all columns, wide columns against all rows
        shape.m = std::min(shape.m, scaling.wide_rows + divide_up(scaling.wide_columns * shape.m, shape.n));
      seconds += residue_seconds(plan.engine->name(), shape, list.pass[i].blocking.moduli, threads);
    }
    return seconds > native_seconds(plan.shape, plan.single_precision, threads);
  };
  return list_passes<Pass>(
      plan, scaling, [&] { return ordinary_pass(plan); }, wide, slower);
}

namespace {

struct EngineRates {
  std::string_view name;
  double operations;   // int8 operations a second and core for long k, reduction included
  double half_k;       // k at which half of that is reached
  double plane_bytes;  // residues written or recombined a second and core
};

// bench/results/ has the measurements behind these.
constexpr std::array<EngineRates, 4> engines = {{
    {"amx", 5.6e12, 120, 6.8e9},
    {"avx512_vnni", 3.0e11, 60, 6.0e9},
    {"avx2", 0.7e11, 60, 1.0e9},
    {"portable", 0.1e11, 30, 5.0e7},
}};

// The product of |A| and |B|: operations on tiles, elements rounded, entries taken.
constexpr double bound_operations = 2.2e12, bound_elements = 1e9, bound_entries = 1.5e9;

double tabled_seconds(std::string_view engine, const ProductShape& s, int moduli, int threads) {
  const auto* rates =
      std::find_if(engines.begin(), engines.end(), [&](const EngineRates& e) { return e.name == engine; });
  if (rates == engines.end()) rates = &engines.back();
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double products = 2 * m * n * k / (rates->operations * k / (k + rates->half_k));
  const double bytes = (m * k + k * n + m * n) / rates->plane_bytes;
  return moduli * (products + bytes) / threads + least_residue_seconds;
}

// Residues of float and double differ in their moduli alone: how far the nearest measured number of them is.
int nearest_moduli(const MeasuredRates& rates, std::string_view engine, int moduli) {
  int nearest = max_moduli;
  for (const MeasuredTime& t : rates.times)
    if (t.method == engine) nearest = std::min(nearest, std::abs(t.moduli - moduli));
  return nearest;
}

}  // namespace

double residue_seconds(std::string_view engine, const ProductShape& s, int moduli, int threads) {
  const MeasuredRates& rates = rates_of_this_machine();
  const int nearest = nearest_moduli(rates, engine, moduli);
  const double factor = rates.factor(
      size_of(s), threads,
      [&](const MeasuredTime& t) { return t.method == engine && std::abs(t.moduli - moduli) == nearest; },
      [](const MeasuredTime& t) {
        return tabled_seconds(t.method, {t.n, t.n, t.n}, t.moduli, t.threads);
      });
  return factor * tabled_seconds(engine, s, moduli, threads);
}

double residue_steps(const ProductShape& s) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n),
               k = static_cast<double>(round_up(s.k, step_size));
  return m * n + (m + n) * k + m * n * k / 64;
}

double bound_seconds(const ProductShape& s, bool tiles, int threads) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double product = tiles ? 2 * m * n * k / bound_operations : native_seconds(s, true, 1);
  return (product + (m * k + k * n) / bound_elements + m * n / bound_entries) / threads + least_residue_seconds;
}

namespace {

// A slice of a block of A's strips is streamed from the second-level cache: half of 2 MiB, so that the strips of B
// which come next fit too. On Emerald Rapids, two cores, n = k = 4096: blocks of 8, 16, 24, 32, 48 strips
// gave 10.5, 11.2, 11.3, 11.5 and 10.9 TOP/s (bench/results/).
constexpr std::int64_t row_block_bytes = std::int64_t{1} << 20;
// Of (modulus, block of C). The last ones are cut (residue/product_items.hpp), so that few are enough to end together.
constexpr std::int64_t items_per_thread = 4;

// So many threads have the third level and memory for a limit: blocks of C are square, for fewer bytes that few
// threads read, and stay in the second level from slice to slice (bench/results/README.md).
constexpr int many_threads = 5;
constexpr std::int64_t many_threads_bytes = row_block_bytes / 2, many_threads_columns = 32, many_threads_items = 3;

constexpr std::int64_t least_k_block = 1024;

// Not a multiple of a page: planes of all moduli would fall into the same cache sets.
constexpr std::size_t plane_padding = 320;

std::int64_t items_of(const Blocking& b, StripCounts strips) {
  return b.moduli * divide_up(strips.rows, b.item.rows) * divide_up(strips.columns, b.item.columns);
}

void set_item(Blocking& b) {
  const StripCounts strips{b.m_block / strip_size, b.n_block / strip_size};
  const std::int64_t slice_bytes = panel_layout(strip_size, b.k_block).slice_steps * step_bytes;
  if (b.threads < many_threads) {
    b.item = {std::min(strips.rows, row_block_bytes / slice_bytes), strips.columns};
    while (b.item.rows > 2 && items_of(b, strips) < items_per_thread * b.threads) b.item.rows /= 2;
    return;
  }
  b.item = {std::min(strips.rows, many_threads_bytes / slice_bytes), std::min(strips.columns, many_threads_columns)};
  while (std::max(b.item.rows, b.item.columns) > 2 && items_of(b, strips) < many_threads_items * b.threads)
    (b.item.columns >= b.item.rows ? b.item.columns : b.item.rows) /= 2;
}

void set_bytes(Blocking& b, const Int8Engine& engine) {
  set_item(b);
  Arena count;
  carve_pass(count, b, engine);
  b.bytes = count.used();
}

}  // namespace

std::int64_t largest_k_block(std::int64_t k, const Int8Engine& engine) {
  return round_up(divide_up(k, divide_up(k, engine.longest_k())), step_size);
}

namespace {

// A plane of rows x columns bytes; the first blocks tried may be all of a product that no memory holds.
std::size_t plane_of(std::int64_t rows, std::int64_t columns) {
  return plane_stride(static_cast<std::int64_t>(size_product({rows, columns})));
}

}  // namespace

std::size_t plane_stride(std::int64_t bytes) {
  return static_cast<std::size_t>(round_up(bytes, static_cast<std::int64_t>(Arena::alignment))) + plane_padding;
}

PassBuffers carve_pass(Arena& arena, const Blocking& b, const Int8Engine& engine) {
  PassBuffers buffers;
  buffers.a.stride = plane_of(b.m_block, b.k_block), buffers.b.stride = plane_of(b.n_block, b.k_block);
  buffers.c.stride = plane_of(b.m_block, b.n_block);
  const auto moduli = static_cast<std::size_t>(b.moduli), threads = static_cast<std::size_t>(b.threads);
  for (const auto& [memory, prepared] :
       {std::pair{&buffers.a, b.prepared.a}, {&buffers.b, b.prepared.b}, {&buffers.c, false}})
    if (!prepared) memory->planes = arena.take<std::int8_t>(size_product({moduli, memory->stride}));
  // A thread's scratch serves one stage after another: a gathered strip, then the engine's accumulators.
  const auto strip = static_cast<std::int64_t>(sizeof(double)) * strip_size * b.k_block;
  const auto accumulators = static_cast<std::int64_t>(engine.scratch_bytes());
  buffers.scratch_stride =
      static_cast<std::size_t>(round_up(std::max(strip, accumulators), static_cast<std::int64_t>(Arena::alignment)));
  buffers.scratch = arena.take<std::byte>(threads * buffers.scratch_stride);
  return buffers;
}

namespace {

BoundVectors carve_bound_vectors(Arena& arena, std::size_t count) {
  return {arena.take<float>(count), arena.take<float>(count), arena.take<float>(count), arena.take<float>(count)};
}

}  // namespace

VectorBuffers carve_vectors(Arena& arena, const ProductShape& shape, int threads, bool exact) {
  VectorBuffers v;
  v.a.count = shape.m, v.b.count = shape.n;
  const auto padded = [](const SideVectors& x) { return static_cast<std::size_t>(round_up(x.count, strip_size)); };
  const std::size_t strips = size_product({padded(v.a) / strip_size, padded(v.b) / strip_size});
  for (SideVectors* x : {&v.a, &v.b}) {
    x->statistics = arena.take<VectorStatistics>(padded(*x));
    x->proofs = arena.take<VectorProof>(padded(*x));
    x->scales = arena.take<int>(padded(*x));
    if (exact) {
      x->lowest_bits = arena.take<LowestBits>(padded(*x));
      x->errors = arena.take<double>(3 * padded(*x));
    } else {
      x->bounds = carve_bound_vectors(arena, padded(*x));
    }
  }
  if (exact) {
    v.lines = arena.take<double>(static_cast<std::size_t>(shape.k) * static_cast<std::size_t>(threads));
    v.undecided = arena.take<EntryMask>(strips);
    return v;  // no block spans: bounds against |A||B| are not asked for
  }
  if (shape.k >= SpeculativeProduct::least_k && shape.k <= SpeculativeProduct::most_k)
    v.open = arena.take<bool>(strips);
  if (shape.k > longest_spanned_k) return v;
  for (const auto& [x, sets] : {std::pair{&v.a, threads}, {&v.b, 1}}) {
    x->stride = round_up(x->count, span_lanes);
    const auto take = [&](std::int64_t rows) {
      return arena.take<std::uint8_t>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(x->stride));
    };
    x->deficits = take(span_blocks(shape.k)), x->norm_bits = take(1), x->costs = take(sets);
  }
  return v;
}

namespace {

// Of the planes that are made here. Half of the last-level cache, since C and other processes want some of it.
bool planes_fit_caches(const Blocking& b) {
  const std::size_t a_bytes = b.prepared.a ? 0 : plane_of(b.m_block, b.k_block),
                    b_bytes = b.prepared.b ? 0 : plane_of(b.n_block, b.k_block);
  return static_cast<std::size_t>(b.moduli) * (a_bytes + b_bytes) <= last_level_cache_bytes() / 2;
}

}  // namespace

Blocking choose_blocking(const ProductShape& shape, int moduli, int threads, const Int8Engine& engine,
                         std::size_t limit, const PreparedSides& prepared) {
  Blocking b;
  b.moduli = moduli;
  b.threads = threads;
  b.prepared = prepared;
  b.m_block = round_up(shape.m, strip_size);
  b.n_block = round_up(shape.n, strip_size);
  b.k_block = largest_k_block(shape.k, engine);
  halve_until_it_fits(b, limit,
                      {.vectors = strip_size, .k = std::max(least_k_block, prepared.k_block), .k_unit = step_size},
                      [&](Blocking& x) { set_bytes(x, engine); });
  b.cached = planes_fit_caches(b);
  return b;
}

}  // namespace vernier
