#include "residue/quad/residue_sums.hpp"

#include "number/moduli.hpp"

namespace vernier {

void add_residues(int count, std::size_t bytes, const std::int8_t* from, std::size_t from_stride, std::int8_t* to,
                  std::size_t to_stride) {
  for (std::size_t q = 0; q < static_cast<std::size_t>(count); ++q) {
    const auto p = static_cast<std::int16_t>(moduli[q]), most = static_cast<std::int16_t>(largest_residue(p)),
               least = static_cast<std::int16_t>(smallest_residue(p));
    const std::int8_t* x = from + q * from_stride;
    std::int8_t* y = to + q * to_stride;
#pragma omp simd
    for (std::size_t b = 0; b < bytes; ++b) {
      auto sum = static_cast<std::int16_t>(x[b] + y[b]);
      sum = static_cast<std::int16_t>(sum - (sum > most ? p : 0));
      sum = static_cast<std::int16_t>(sum + (sum < least ? p : 0));
      y[b] = static_cast<std::int8_t>(sum);
    }
  }
}

}  // namespace vernier
