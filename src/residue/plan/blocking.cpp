#include "residue/plan/blocking.hpp"

#include <algorithm>

#include "base/cpu_features.hpp"
#include "product/plan/halving.hpp"
#include "residue/plan/bounds.hpp"

namespace vernier {
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
  for (const auto& [memory, vectors] : {std::pair{&buffers.a, b.m_block}, {&buffers.b, b.n_block}})
    memory->filled = arena.take<FilledSteps>(static_cast<std::size_t>(divide_up(vectors, strip_size)));
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

// What a thread may write through the caches before lines go past them: about its core's second level. Lines of more
// are held by other cores when they are written again and when they are read: two threads, fp32, n = 2048, 42 ms in
// place of 52, n = 1024 5.7 of 7.3; 16 threads, n = 1024, fp64, which fits, 2.55 past the caches in place of 2.36.
constexpr std::size_t cached_bytes_per_thread = std::size_t{2} << 20;

// Of the planes that are made here. Half of the last-level cache, since C and other processes want some of it.
bool planes_fit_caches(const Blocking& b) {
  const std::size_t a_bytes = b.prepared.a ? 0 : plane_of(b.m_block, b.k_block),
                    b_bytes = b.prepared.b ? 0 : plane_of(b.n_block, b.k_block);
  return static_cast<std::size_t>(b.moduli) * (a_bytes + b_bytes) <=
         std::min(last_level_cache_bytes() / 2, cached_bytes_per_thread * static_cast<std::size_t>(b.threads));
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
