#include "bf16x6/blocking.hpp"

#include <numeric>

#include "engine/panel.hpp"
#include "product/plan/measured_rates.hpp"

namespace vernier {
namespace {

// Rows of a task: their parts of one group (1.1 MiB), the sums and two chunks of columns share 2 MiB of cache. The more
// they are, the less often columns are read again, 2 bytes a cycle with 256. Fewer than the least make no blocks of
// their own.
constexpr std::int64_t most_rows = 384, least_rows = 128;

// Blocks of rows: as many for each thread where they stay long enough.
std::int64_t row_blocks(std::int64_t m, int threads) {
  const std::int64_t blocks = divide_up(m, most_rows), even = round_up(blocks, threads);
  return even * least_rows <= m ? even : blocks;
}

std::int64_t row_strips(const Bf16x6Blocking& b) { return b.row_block / bf16x6_strip; }
std::int64_t strips_of_range(const Bf16x6Blocking& b) { return divide_up(b.n_block / bf16x6_strip, b.column_ranges); }

struct ThreadLayout {
  std::size_t sums[2], totals, scratch, end;
};
ThreadLayout thread_layout(const Bf16x6Blocking& b) {
  const auto strips = static_cast<std::size_t>(row_strips(b));
  const std::size_t rows = strips * bf16x6_group_chunks * bf16x6_chunk_bytes, block = strips * bf16x6_block_bytes;
  const std::size_t totals = b.groups > 1 ? block * static_cast<std::size_t>(strips_of_range(b)) : 0;
  return {.sums = {rows, rows + block},
          .totals = rows + 2 * block,
          .scratch = rows + 2 * block + totals,
          .end = rows + 2 * block + totals + bf16x6_block_bytes};
}

// Ranges of columns where there are too few blocks of rows for all threads to have the same number.
std::int64_t column_ranges(const Bf16x6Blocking& b) {
  constexpr std::int64_t enough = 8;  // tasks a thread
  if (b.row_blocks >= enough * b.threads) return 1;
  return std::min<std::int64_t>(b.threads / std::gcd<std::int64_t>(b.row_blocks, b.threads), b.n_block / bf16x6_strip);
}

std::size_t bytes_of(const Bf16x6Blocking& b) {
  Arena count;
  carve_bf16x6(count, b);
  return count.used();
}

// Products of bf16 parts, a second and core: operations of the fp32 product, elements split, entries of C written.
constexpr double part_operations = 0.33e12, part_elements = 1.6e9, part_sums = 3e9;
constexpr double two_stages = 4e-5;  // seconds

// The thread that has most tasks: each task splits its rows anew.
double tabled_seconds(const ProductShape& s, int threads) {
  Bf16x6Blocking b{.threads = threads, .n_block = round_up(s.n, bf16x6_strip)};
  b.row_blocks = row_blocks(s.m, threads);
  b.column_ranges = column_ranges(b);
  const auto tasks = static_cast<double>(divide_up(b.row_blocks * b.column_ranges, threads));
  const auto rows = static_cast<double>(round_up(divide_up(s.m, b.row_blocks), bf16x6_strip));
  const auto columns = static_cast<double>(strips_of_range(b) * bf16x6_strip), n = static_cast<double>(b.n_block);
  const auto k = static_cast<double>(round_up(s.k, bf16x6_chunk));
  const double task = 2 * rows * columns * k / part_operations + rows * k / part_elements + rows * columns / part_sums;
  return tasks * task + n * k / part_elements / threads + two_stages;
}

}  // namespace

Bf16x6Blocking choose_bf16x6_blocking(const ProductShape& s, int threads, std::size_t limit) {
  Bf16x6Blocking b{.shape = s, .threads = threads};
  b.row_blocks = row_blocks(s.m, threads);
  b.row_block = round_up(divide_up(s.m, b.row_blocks), bf16x6_strip);
  b.chunks = divide_up(s.k, bf16x6_chunk);
  b.groups = divide_up(b.chunks, bf16x6_group_chunks);
  const std::int64_t strips = divide_up(s.n, bf16x6_strip);
  const auto with = [&](std::int64_t blocks) {
    b.n_block = divide_up(strips, blocks) * bf16x6_strip;
    b.column_ranges = column_ranges(b);
    b.bytes = bytes_of(b);
    return b.bytes <= limit;
  };
  std::int64_t blocks = 1;
  while (!with(blocks) && blocks < strips) blocks = std::min(2 * blocks, strips);
  return b;
}

Bf16x6Buffers carve_bf16x6(Arena& arena, const Bf16x6Blocking& b) {
  const auto padded = [](std::int64_t count) { return static_cast<std::size_t>(round_up(count, bf16x6_strip)); };
  Bf16x6Buffers buffers;
  buffers.columns =
      arena.take<std::byte>(static_cast<std::size_t>(b.n_block / bf16x6_strip * b.chunks) * bf16x6_chunk_bytes);
  for (const auto& [vectors, count] :
       {std::pair{&buffers.vectors.a, padded(b.shape.m)}, {&buffers.vectors.b, padded(b.shape.n)}})
    *vectors = {arena.take<PartRange>(count), arena.take<float>(count), arena.take<float>(count)};
  buffers.thread_bytes = static_cast<std::size_t>(round_up(static_cast<std::int64_t>(thread_layout(b).end), 4096));
  buffers.threads = arena.take<std::byte>(buffers.thread_bytes * static_cast<std::size_t>(b.threads));
  return buffers;
}

Bf16x6Buffers::Thread Bf16x6Buffers::of_thread(int thread, const Bf16x6Blocking& b) const {
  const ThreadLayout layout = thread_layout(b);
  std::byte* begin = threads + static_cast<std::size_t>(thread) * thread_bytes;
  const auto floats = [&](std::size_t offset) { return reinterpret_cast<float*>(begin + offset); };
  return {begin,
          {floats(layout.sums[0]), floats(layout.sums[1])},
          b.groups > 1 ? floats(layout.totals) : nullptr,
          floats(layout.scratch)};
}

double bf16x6_seconds(const ProductShape& s, int threads) {
  const double factor = rates_of_this_machine().factor(
      size_of(s), threads, [](const MeasuredTime& t) { return t.method == "amx_bf16"; },
      [](const MeasuredTime& t) {
        return tabled_seconds({t.n, t.n, t.n}, t.threads);
      });
  return factor * tabled_seconds(s, threads);
}

}  // namespace vernier
