// The parts of a complex product out of three real ones (Karatsuba), modulo p:
//     (x + iy)(u + iv) = (xu - yv) + i ((x + y)(u + v) - xu - yv)
#pragma once

#include <cstddef>
#include <cstdint>

namespace vernier {

// One block of 32 x 32 residues: xu at products, yv part_bytes further, (x + y)(u + v) 2 part_bytes further.
void complex_parts_portable(int p, const std::int8_t* products, std::size_t part_bytes, std::int8_t* real,
                            std::int8_t* imaginary);
void complex_parts_avx512(int p, const std::int8_t* products, std::size_t part_bytes, std::int8_t* real,
                          std::int8_t* imaginary);

}  // namespace vernier
