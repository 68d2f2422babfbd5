// PBLAS over elements of residues: a table of functions whose local products are libvernier's, and whose sums are exact
// in any order.
#pragma once

#include <cstddef>

#include "functions.hpp"
#include "matrix.hpp"

namespace vernier::interpose {

// A local matrix of elements.
struct Elements {
  std::byte* data;
  InnerDescriptor descriptor;
};

// What a product needs beside its matrices: three factors, and what a sum over processes takes at a time. Allocated
// before any process sends.
inline constexpr std::size_t ring_sum_bytes = std::size_t{1} << 20;
constexpr std::size_t ring_buffer_bytes(std::size_t element_bytes) { return 3 * element_bytes + ring_sum_bytes; }

struct RingProduct {
  vernier_distributed product;
  int pass;
  std::size_t element_bytes;
  Grid grid;
  std::byte* buffer;  // ring_buffer_bytes()
  char opa, opb;      // N or T: elements are conjugated already
  int m, n, k;
  Elements a, b, c;  // c: zeros, and then the product
};

// True if all went well here. No process leaves early: what fails on one is told afterwards.
bool multiply_by_ring(const RingProduct& ring);

}  // namespace vernier::interpose
