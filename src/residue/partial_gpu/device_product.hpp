// Products of elements on a GPU: operands go up, products come down, and sums stay where they are.
#pragma once

#include <cstddef>

#include "base/workspace.hpp"
#include "residue/partial/pass_data.hpp"

namespace vernier {

// What an engine of the current GPU leaves for a product. No memory: there is no such GPU.
struct ElementDevice {
  std::size_t memory = 0;
  std::int64_t longest_k = 0;
  bool sums_in_memory = false;  // of 32 bits
};
ElementDevice element_device();

// A block of C with a block of k: what is on the device at a time.
struct ElementBlock {
  std::int64_t m = 0, n = 0, k = 0;
};
// The largest one of the product that the device holds; without sizes where it holds none.
ElementBlock choose_element_block(const ElementLayout& layout, const ElementProduct& product,
                                  const ElementDevice& device);

// Device memory of a block.
struct ElementBuffers {
  std::byte *a = nullptr, *b = nullptr, *product = nullptr;  // elements
  std::uint8_t *planes_a = nullptr, *planes_b = nullptr;     // [modulus][real product][vector][pitch]
  std::int8_t* residues = nullptr;                           // of the product
  std::int32_t* sums = nullptr;
};
// The planes, residues and sums alone.
ElementBuffers carve_planes(Arena& arena, const ElementLayout& layout, const ElementBlock& block, bool sums_in_memory);
ElementBuffers carve_elements(Arena& arena, const ElementLayout& layout, const ElementBlock& block,
                              bool sums_in_memory);

// The elements of A B, without classes, to memory of the host, one column behind the other. k goes in steps of that
// many. False: the GPU could not.
bool make_product_on_device(const PassData& pass, const ElementProduct& product, std::int64_t k_step, std::byte* out);

// Is the GPU asked for, or faster by estimate, in the blocks that it holds?
bool goes_to_a_gpu(const PassData& pass, const ElementProduct& product, ElementDevice (*device)() = element_device);

// As multiply_residues(), by the current GPU; what that cannot do, the CPU does.
void multiply_residues_by_gpu(const PassData& pass, const ElementProduct& product);

}  // namespace vernier
