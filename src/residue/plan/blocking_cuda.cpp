// Blocks that fit a workspace, and what lies in it.
#include <algorithm>
#include <limits>

#include "base/instantiate.hpp"
#include "engine/entry_filter.hpp"
#include "engine/filled_pieces.hpp"
#include "engine/summed_planes.hpp"
#include "product/plan/halving.hpp"
#include "residue/convert/winograd.hpp"
#include "residue/plan/plan_cuda.hpp"

namespace vernier {
namespace {

constexpr std::int64_t least_block = 256, least_device_k_block = 4096;

// Entries of a block are named in 32 bits.
constexpr std::int64_t most_listed_entries = std::int64_t{1} << 32;

void set_bytes(DeviceBlocking& b, const DeviceLimits& limits) {
  Arena count;
  carve_device_pass(count, b, limits);
  b.bytes = count.used();
}

}  // namespace

DevicePassBuffers carve_device_pass(Arena& arena, const DeviceBlocking& b, const DeviceLimits& limits,
                                    const Sides<bool>& ready) {
  const auto planes = static_cast<std::size_t>(b.moduli * (b.form.strassen ? winograd_products : b.form.products));
  const auto pitch = static_cast<std::size_t>(plane_pitch(b.k_block, b.form.strassen));
  const std::int64_t m = plane_vectors(b.m_block, b.form.strassen), n = plane_vectors(b.n_block, b.form.strassen);
  DevicePassBuffers buffers;
  if (!ready.a) buffers.a = arena.take<std::uint8_t>(planes * static_cast<std::size_t>(m) * pitch);
  if (!ready.b) buffers.b = arena.take<std::uint8_t>(planes * static_cast<std::size_t>(n) * pitch);
  buffers.c_bytes = planes * static_cast<std::size_t>(product_units(m, n).plane_bytes());
  buffers.c = arena.take<std::int8_t>(buffers.c_bytes);
  if (limits.int32_sums)
    buffers.sums =
        arena.take<std::int32_t>(static_cast<std::size_t>(sums_count(m, n, static_cast<std::int64_t>(planes))));
  if (b.form.products == 1) buffers.steps = arena.take<std::uint32_t>(1);
  if (b.form.exact) buffers.open = arena.take<std::uint32_t>(static_cast<std::size_t>(b.m_block * b.n_block));
  return buffers;
}

DeviceVectorBuffers carve_device_vectors(Arena& arena, const ProductShape& shape, VectorUse use) {
  const Sides<std::size_t> count{static_cast<std::size_t>(shape.m), static_cast<std::size_t>(shape.n)};
  DeviceVectorBuffers v;
  const auto carve = [&](auto body) {
    for (const Side side : both_sides) body(v[side], count[side]);
  };
  carve([&](DeviceVectors& x, std::size_t n) { x.statistics = arena.take<VectorStatistics>(n); });
  carve([&](DeviceVectors& x, std::size_t n) { x.scales = arena.take<int>(n); });
  if (use == VectorUse::exact) {
    const std::size_t before = arena.used();
    carve([&](DeviceVectors& x, std::size_t n) { x.lowest_bits.counts = arena.take<cuda::DeviceLowestBits>(n); });
    v.sample = arena.take<cuda::DeviceSample>(1);
    v.open_counts = arena.take<cuda::DeviceOpenCounts>(1);
    v.cleared = reinterpret_cast<std::byte*>(v.a.lowest_bits.counts);
    v.cleared_bytes = arena.used() - before;
    carve([&](DeviceVectors& x, std::size_t n) {
      x.lowest_bits.places = arena.take<std::uint32_t>(n * cuda::kept_places);
      x.errors = arena.take<RoundError>(n);
    });
  } else if (use == VectorUse::any_data) {
    carve([&](DeviceVectors& x, std::size_t n) {
      x.proofs = arena.take<VectorProof>(n);
      x.wide_scales = arena.take<int>(n);
      x.group_proofs = arena.take<unsigned>((n + EntryFilter::group - 1) / EntryFilter::group);
      x.filled = arena.take<std::uint32_t>(filled_words(static_cast<std::int64_t>(n), shape.k));
    });
    v.route = arena.take<cuda::DeviceRoute>(1);
    v.guess = arena.take<cuda::GuessFindings>(1);
    v.regularity = arena.take<cuda::RegularityState>(1);
    v.balance = arena.take<std::int8_t>(static_cast<std::size_t>(shape.k));
  }
  return v;
}

DeviceBlocking choose_device_blocking(const ProductShape& shape, int moduli, const DeviceLimits& limits,
                                      std::size_t limit, PassForm form) {
  DeviceBlocking b;
  b.moduli = moduli;
  b.form = form;
  b.m_block = shape.m;
  b.n_block = shape.n;
  b.k_block = std::min(shape.k, round_up(divide_up(shape.k, divide_up(shape.k, limits.longest_k)), device_pitch_unit));
  halve_until_it_fits(b, limit, {.vectors = least_block, .k = least_device_k_block, .k_unit = device_pitch_unit},
                      [&](DeviceBlocking& x) {
                        set_bytes(x, limits);
                        if (form.exact && x.m_block * x.n_block > most_listed_entries)
                          x.bytes = std::numeric_limits<std::size_t>::max();
                      });
  return b;
}

template <class R>
DeviceComplexBuffers<R> carve_device_complex(Arena& arena, const DeviceComplexPlan& plan) {
  const auto size = [](auto... factors) { return (std::size_t{1} * ... * static_cast<std::size_t>(factors)); };
  const ProductShape& s = plan.shape;
  const std::int64_t both = device_pitch(2 * s.k), one = device_pitch(s.k);
  const std::int64_t units = product_units(s.m, s.n).plane_bytes(), doubled = product_units(2 * s.m, s.n).plane_bytes();
  DeviceComplexBuffers<R> b;
  b.vectors = carve_device_vectors(arena, s);
  b.row_scales = arena.take<int>(size(2 * s.m));
  const Sides<std::int64_t> vectors{s.m, s.n};
  for (const Side side : both_sides)
    if (plan.turn[side]) b.turned[side] = arena.take<R>(size(2, vectors[side], s.k));
  if (plan.keep_t) b.t = arena.take<R>(size(2, s.m, s.n));
  Arena beside = arena;
  b.real_rows = beside.take<R>(size(4, s.m, s.k));
  for (const Side side : both_sides) {
    b.parts[side] = arena.take<std::uint8_t>(size(plan.moduli, vectors[side], both));
    for (std::uint8_t** plane : {&b.plus[side], &b.minus[side]})
      *plane = arena.take<std::uint8_t>(size(plan.moduli, vectors[side], one));
  }
  for (std::int8_t** plane : {&b.c_plus, &b.c_minus}) *plane = arena.take<std::int8_t>(size(plan.moduli, units));
  b.c_bytes = size(plan.moduli, doubled);
  b.c = arena.take<std::int8_t>(b.c_bytes);
  b.steps = arena.take<std::uint32_t>(1);
  if (beside.used() > arena.used()) arena = beside;
  return b;
}

VERNIER_REAL_INSTANCES(carve_device_complex)

}  // namespace vernier
