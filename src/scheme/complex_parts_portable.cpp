#include "base/panel.hpp"
#include "number/moduli.hpp"
#include "scheme/complex_parts.hpp"

namespace vernier {

void complex_parts_portable(int p, const std::int8_t* products, std::size_t part_bytes, std::int8_t* real,
                            std::int8_t* imaginary) {
  for (std::size_t e = 0; e < block_elements; ++e) {
    const int xu = products[e], yv = products[part_bytes + e], sums = products[2 * part_bytes + e];
    real[e] = static_cast<std::int8_t>(symmetric_residue(xu - yv, p));
    imaginary[e] = static_cast<std::int8_t>(symmetric_residue(sums - xu - yv, p));
  }
}

}  // namespace vernier
