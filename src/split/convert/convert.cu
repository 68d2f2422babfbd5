#include "split/convert/convert.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/panel.hpp"

namespace vernier::cuda {

std::int64_t split_line_count(SplitForm form, std::int64_t k) {
  const int step_k = is_tf32(form) ? tf32_step_k : half_step_k;
  return split_part_number(form) * divide_up(k, 2 * step_k);
}

// docs/accuracy.md, "When a split is accurate enough": nothing below 2^-window of the largest element, or three
// quarters of the elements above 2^-depth of it.
SplitThresholds split_thresholds(SplitForm form, std::int64_t k) {
  const int log2_k = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(k, 1))) - 1;
  int window = 0, depth = 0;
  switch (form) {
    case SplitForm::half_shifted:
      window = 27, depth = (18 + log2_k) / 2;
      break;
    case SplitForm::half_unshifted:
      window = 16, depth = (8 + log2_k) / 2;
      break;
    case SplitForm::tf32_shifted:
    case SplitForm::tf32_unshifted:
    case SplitForm::bf16_three:
      window = 60, depth = 40;
      break;
  }
  return {std::ldexp(1.0f, scaled_exponent - depth), std::ldexp(1.0f, scaled_exponent - window)};
}

void split_operands(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream) {
  const auto split = [&](auto once, auto in_short) {
    (split_short_serves(a, b) ? in_short : once)(form, a, b, gate, stream);
  };
  if (is_tf32(form)) return split_once<SplitForm::tf32_shifted>(form, a, b, gate, stream);
  if (form == SplitForm::bf16_three)
    return split(split_once<SplitForm::bf16_three>, split_short<SplitForm::bf16_three>);
  split(split_once<SplitForm::half_shifted>, split_short<SplitForm::half_shifted>);
}

}  // namespace vernier::cuda
