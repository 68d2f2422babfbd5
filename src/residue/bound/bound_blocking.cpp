#include "residue/bound/bound_search.hpp"

#include "engine/bound/bound_engine.hpp"
#include "engine/panel.hpp"
#include "product/plan/halving.hpp"

namespace vernier {
namespace {

constexpr std::int64_t least_k_block = 1024;

BoundBlocking halved(const ProductShape& shape, int threads, bool tiles, bool codes, std::size_t limit) {
  BoundBlocking b{.shape = shape, .threads = threads, .tiles = tiles, .codes = codes};
  b.m_block = round_up(shape.m, bf16_strip);
  b.n_block = round_up(shape.n, bf16_strip);
  b.k_block = round_up(shape.k, bf16_step);
  const std::int64_t least_k = tiles ? b.k_block : least_k_block;
  halve_until_it_fits(b, limit, {.vectors = bf16_strip, .k = least_k, .k_unit = bf16_step}, [](BoundBlocking& x) {
    Arena count;
    carve_bound(count, x);
    x.bytes = count.used();
  });
  return b;
}

}  // namespace

BoundBlocking choose_bound_blocking(const ProductShape& shape, int threads, bool tiles, std::size_t limit, bool codes) {
  BoundBlocking b = halved(shape, threads, tiles, codes, limit);
  if (b.bytes > limit) b = halved(shape, threads, tiles, false, limit);
  if (b.bytes > limit && tiles) b = halved(shape, threads, false, false, limit);
  return b;
}

BoundBuffers carve_bound(Arena& arena, const BoundBlocking& b) {
  const auto m = static_cast<std::size_t>(b.m_block), n = static_cast<std::size_t>(b.n_block),
             k = static_cast<std::size_t>(b.k_block), threads = static_cast<std::size_t>(b.threads);
  const std::size_t element = b.tiles ? 2 : sizeof(float);
  BoundBuffers buffers;
  buffers.a = arena.take<std::byte>(m * k * element);
  buffers.b = arena.take<std::byte>(n * k * element);
  buffers.filled.a = arena.take<FilledSteps>(m / bf16_strip);
  buffers.filled.b = arena.take<FilledSteps>(n / bf16_strip);
  buffers.s = arena.take<float>(b.tiles ? threads * most_bound_strips * bf16_strip * bf16_strip : m * n);
  buffers.minima = arena.take<float>(threads * n);
  if (b.codes) buffers.codes = arena.take<std::uint8_t>(static_cast<std::size_t>(b.shape.m * b.shape.n));
  return buffers;
}

}  // namespace vernier
