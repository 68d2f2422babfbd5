#include <cmath>

#include "base/instantiate.hpp"
#include "number/ieee754.hpp"
#include "residue/convert/decompose.hpp"

namespace vernier {
namespace {

struct Limbs {
  std::int64_t limb[max_limbs];  // least significant first
};

// x = RN(factor a 2^scale), cut into limbs of 62 bits toward zero; exact but for the one rounding of the last limb, and
// of a product with a factor.
Limbs scaled_integer(double a, double factor, int scale, int limbs) {
  Limbs x{};
  double rest = factor * std::ldexp(a, scale - limb_bits * (limbs - 1));
  for (int t = limbs - 1; t > 0; --t) {
    const double whole = std::trunc(rest);
    x.limb[t] = static_cast<std::int64_t>(whole);
    rest = (rest - whole) * 0x1p62;
  }
  x.limb[0] = static_cast<std::int64_t>(std::nearbyint(rest));
  return x;
}

int residue(const Limbs& x, int limbs, int limb_base, int factor, int p) {
  int r = symmetric_residue(x.limb[limbs - 1], p);
  for (int t = limbs - 2; t >= 0; --t) r = symmetric_residue(r * limb_base + x.limb[t] % p, p);
  return multiply_mod(r, factor, p);
}

}  // namespace

namespace {

template <class T>
void decompose(const Operand<T>* terms, int term_count, const DigitTables& tables, const DecomposeTask& task) {
  const int limbs = tables.limbs == 0 ? 1 : tables.limbs;
  const auto sum_of = [&](int v, std::int64_t l) {
    Limbs sum{};
    for (int i = 0; i < term_count; ++i) {
      const T a = *terms[i].at(v, l);
      if (a == T{0} || magnitude_bits(a) >= infinity_bits<T>) continue;  // residues of zero are zeros
      const Limbs x = scaled_integer(static_cast<double>(a), task.factor, task.scales[v], limbs);
      for (int t = 0; t < limbs; ++t) sum.limb[t] += x.limb[t];
    }
    return sum;
  };
  for (std::int64_t step = task.filled.begin; step < std::min(task.filled.end, task.layout.steps); ++step) {
    std::int8_t* out = task.planes + task.layout.offset(task.strip, step);
    for (int v = 0; v < strip_size; ++v) {
      for (int b = 0; b < step_size; ++b) {
        const std::int64_t l = step * step_size + k_of_byte(b);
        const Limbs x = v < terms[0].vectors && l < terms[0].k ? sum_of(v, l) : Limbs{};
        const int byte = tables.side == PanelSide::rows ? row_byte(v, b) : column_byte(v, b);
        for (int q = 0; q < tables.count; ++q) {
          const auto i = static_cast<std::size_t>(q);
          const int r = residue(x, limbs, tables.limb_base[i], tables.factor[i], moduli[i]);
          out[i * task.plane_bytes + static_cast<std::size_t>(byte)] = static_cast<std::int8_t>(r);
        }
      }
    }
  }
}

}  // namespace

template <class T>
void decompose_portable(const Operand<T>& strip, const DigitTables& tables, const DecomposeTask& task) {
  decompose(&strip, 1, tables, task);
}

void decompose_sum_portable(const Operand<double>* terms, int count, const DigitTables& tables,
                            const DecomposeTask& task) {
  decompose(terms, count, tables, task);
}

template <class T>
void decompose_complex_portable(const ComplexStrip<T>& strip, const DigitTables& tables, const DecomposeTask& task,
                                std::size_t part_bytes) {
  DecomposeTask imaginary = task;
  imaginary.planes += part_bytes;
  decompose_portable(strip.real, tables, task);
  decompose_portable(strip.imaginary, tables, imaginary);
  for (int q = 0; q < tables.count; ++q) {
    const int p = moduli[static_cast<std::size_t>(q)];
    for (std::int64_t step = task.filled.begin; step < std::min(task.filled.end, task.layout.steps); ++step) {
      std::int8_t* x = task.planes + static_cast<std::size_t>(q) * task.plane_bytes;
      x += task.layout.offset(task.strip, step);
      for (std::size_t b = 0; b < step_bytes; ++b)
        x[2 * part_bytes + b] = static_cast<std::int8_t>(symmetric_residue(x[b] + x[part_bytes + b], p));
    }
  }
}

VERNIER_REAL_INSTANCES(decompose_complex_portable, decompose_portable)

}  // namespace vernier
