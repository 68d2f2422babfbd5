// As loops_avx2.cpp; those of contract exact are in exact_portable.cpp.
#include "base/instantiate.hpp"
#include "residue/bound/bound_operand_loop.hpp"
#include "residue/partial/scan_loop.hpp"
#include "residue/recombine/update_loop.hpp"
#include "residue/scale/block_spans_loop.hpp"

VERNIER_BLOCK_SPANS_OF(portable)
VERNIER_SCAN_LOOPS_OF(portable)
VERNIER_UPDATE_OF(portable)

namespace vernier {

template <class T>
void bound_floats(const BoundPart<T>& part, float* out, std::int64_t ld) {
  const BoundMagnitude magnitude(part.range);
  for (std::int64_t strip = 0; strip < part.count; strip += bf16_strip) {
    const BoundFactors factors(part, strip);
    const std::int64_t vectors = std::min<std::int64_t>(bf16_strip, part.count - strip);
    const auto value = [&](T x, std::int64_t v) {
      return magnitude.float24(static_cast<double>(x), factors.first[v], factors.second[v]);
    };
    const auto line = [&](std::int64_t v, std::int64_t l) {
      return part.x.at(part.first + strip + v, part.k_begin + l);
    };
    for (std::int64_t step = 0; step < bound_steps(part.k_count, part.skip); ++step) {
      const std::int64_t from = step * part.skip * bf16_step, to = step * bf16_step,
                         ks = std::min<std::int64_t>(bf16_step, part.k_count - from);
      if (part.x.k_contiguous) {
        for (std::int64_t v = 0; v < vectors; ++v)
          for (std::int64_t l = 0; l < ks; ++l) out[to + l + (strip + v) * ld] = value(line(v, from)[l], v);
      } else {
        for (std::int64_t l = 0; l < ks; ++l)
          for (std::int64_t v = 0; v < vectors; ++v) out[strip + v + (to + l) * ld] = value(line(0, from + l)[v], v);
      }
    }
  }
}

template <class T>
FilledSteps bound_strip_portable(const BoundPart<T>& part, bool rows, std::byte* out) {
  return bound_strip(part, rows, out);
}

VERNIER_REAL_INSTANCES(bound_floats, bound_strip_portable)

}  // namespace vernier
