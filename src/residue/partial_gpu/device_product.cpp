#include "residue/partial_gpu/device_product.hpp"

#include <algorithm>
#include <optional>

#include "base/status.hpp"
#include "engine/panel_cuda.hpp"
#include "engine/summed_planes.hpp"
#include "product/operand.hpp"
#include "residue/partial/element_parts.hpp"
#include "residue/plan/cost.hpp"

namespace vernier {
namespace {

constexpr std::int64_t longest_block = 8192, deep_enough = 1024;    // of k
constexpr std::size_t most_product_bytes = std::size_t{256} << 20;  // in memory of the host
constexpr std::int64_t least_side = 64;                             // of a block of C

std::int64_t halved(std::int64_t length, std::int64_t unit) { return round_up(divide_up(length, 2), unit); }

std::size_t bytes_of(const ElementLayout& layout, const ElementBlock& block, const ElementDevice& device) {
  Arena count;
  carve_elements(count, layout, block, device.sums_in_memory);
  return count.used();
}

ElementProduct part_of(const ElementProduct& p, Range rows, Range columns) {
  ElementProduct part = p;
  part.m = rows.count, part.n = columns.count;
  part.a.data = p.a.at(rows.begin, 0);
  part.b.data = p.b.at(columns.begin, 0);
  part.c = p.c + p.a.bytes * static_cast<std::size_t>(rows.begin + columns.begin * p.ldc);
  return part;
}

void add_product(const PassData& pass, const ElementProduct& p, const std::byte* product) {
  const ResidueSums sums(pass.layout);
  const std::size_t bytes = p.a.bytes;
#pragma omp parallel for num_threads(pass.threads) schedule(static)
  for (std::int64_t j = 0; j < p.n; ++j)
    sums.add(p.m, reinterpret_cast<const std::int8_t*>(product + bytes * static_cast<std::size_t>(j * p.m)),
             reinterpret_cast<std::int8_t*>(p.c + bytes * static_cast<std::size_t>(j * p.ldc)));
}

// Copies of pageable memory, and products at a rate that most GPUs reach. Rows go up once for each block of columns,
// and columns once for each block of rows.
double seconds_by_gpu(const PassData& pass, const ElementProduct& p, const ElementBlock& block) {
  constexpr double rate = 8e9, operations = 1e14, start = 2e-3;  // bytes and operations a second; seconds
  const double products = 2.0 * real_products(pass.layout.parts) * pass.layout.moduli * static_cast<double>(p.m) *
                          static_cast<double>(p.n) * static_cast<double>(p.k) / operations;
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  const double elements = m * k * static_cast<double>(divide_up(p.n, block.n)) +
                          k * n * static_cast<double>(divide_up(p.m, block.m)) + m * n;
  return start + products + static_cast<double>(p.a.bytes) * elements / rate;
}

}  // namespace

ElementBuffers carve_planes(Arena& arena, const ElementLayout& layout, const ElementBlock& block, bool sums_in_memory) {
  const std::int64_t planes = std::int64_t{real_products(layout.parts)} * layout.moduli, pitch = device_pitch(block.k);
  ElementBuffers buffers;
  buffers.planes_a = arena.take<std::uint8_t>(size_product({planes, block.m, pitch}));
  buffers.planes_b = arena.take<std::uint8_t>(size_product({planes, block.n, pitch}));
  buffers.residues = arena.take<std::int8_t>(size_product({planes, product_units(block.m, block.n).plane_bytes()}));
  if (sums_in_memory)
    buffers.sums = arena.take<std::int32_t>(static_cast<std::size_t>(sums_count(block.m, block.n, planes)));
  return buffers;
}

ElementBuffers carve_elements(Arena& arena, const ElementLayout& layout, const ElementBlock& block,
                              bool sums_in_memory) {
  ElementBuffers buffers = carve_planes(arena, layout, block, sums_in_memory);
  const auto elements = [&](std::int64_t rows, std::int64_t columns) {
    return arena.take<std::byte>(size_product({rows, columns, static_cast<std::int64_t>(layout.bytes())}));
  };
  buffers.a = elements(block.m, block.k);
  buffers.b = elements(block.k, block.n);
  buffers.product = elements(block.m, block.n);
  return buffers;
}

ElementBlock choose_element_block(const ElementLayout& layout, const ElementProduct& product,
                                  const ElementDevice& device) {
  ElementBlock block{product.m, product.n, std::min({product.k, longest_block, device.longest_k})};
  const auto product_bytes = [&] {
    return size_product({block.m, block.n, static_cast<std::int64_t>(layout.bytes())});
  };
  while (bytes_of(layout, block, device) > device.memory || product_bytes() > most_product_bytes) {
    std::int64_t& longer = block.m >= block.n ? block.m : block.n;
    if (block.k > deep_enough && product_bytes() <= most_product_bytes)  // which costs no copies
      block.k = halved(block.k, device_pitch_unit);
    else if (longer > least_side)
      longer = halved(longer, least_side);
    else
      return {};
  }
  return block;
}

bool goes_to_a_gpu(const PassData& pass, const ElementProduct& product, ElementDevice (*device)()) {
  const ProductShape shape{product.m, product.n, product.k};
  if (pass.device == Device::cpu || is_small_product(shape)) return false;
  if (pass.device == Device::cuda) return true;
  constexpr double margin = 0.8;
  const double on_cpu =
      real_products(pass.layout.parts) * residue_seconds(pass.engine->name(), shape, pass.layout.moduli, pass.threads);
  const auto wins = [&](const ElementBlock& block) {
    return block.m != 0 && seconds_by_gpu(pass, product, block) < margin * on_cpu;
  };
  // The device is asked where it wins at best: that may take a context.
  return wins({product.m, product.n, product.k}) && wins(choose_element_block(pass.layout, product, device()));
}

void multiply_residues_by_gpu(const PassData& pass, const ElementProduct& product) {
  const ElementBlock block = choose_element_block(pass.layout, product, element_device());
  if (block.m == 0) return multiply_residues(pass, product);
  std::optional<Workspace> memory;
  try {
    memory.emplace(size_product({block.m, block.n, static_cast<std::int64_t>(product.a.bytes)}));
  } catch (const Error&) {
    return multiply_residues(pass, product);
  }
  bool works = true;
  for (std::int64_t j = 0; j < product.n; j += block.n)
    for (std::int64_t i = 0; i < product.m; i += block.m) {
      const ElementProduct part =
          part_of(product, {i, std::min(block.m, product.m - i)}, {j, std::min(block.n, product.n - j)});
      works = works && make_product_on_device(pass, part, block.k, memory->data());
      works ? add_product(pass, part, memory->data()) : multiply_residues(pass, part);
    }
}

}  // namespace vernier
