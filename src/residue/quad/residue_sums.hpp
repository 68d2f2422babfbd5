// Sums of residues, symmetric again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vernier {

// to += from modulo each p, `bytes` of each plane; planes lie so many bytes apart.
void add_residues(int count, std::size_t bytes, const std::int8_t* from, std::size_t from_stride, std::int8_t* to,
                  std::size_t to_stride);

}  // namespace vernier
