// Elements of long sums, for data too wide for any moduli; and sums as words of 64 bits that integers add.
#include <algorithm>
#include <bit>
#include <optional>

#include "base/instantiate.hpp"
#include "base/workspace.hpp"
#include "number/digit_sum.hpp"
#include "residue/partial/entry_integer.hpp"
#include "residue/partial/pass_data.hpp"
#include "residue/residues.hpp"

namespace vernier {
namespace {

// Afterwards the digits lie in 0 .. 2^32 - 1 but for the last, which has the sign.
void carry_digits(std::int64_t* words, int digits) {
  std::int64_t carry = 0;
  for (int d = 0; d < digits; ++d) {
    words[d] += carry;
    if (d + 1 == digits) return;
    carry = words[d] >> digit_bits;
    words[d] &= digit_mask;
  }
}

void add_digit_product(double x, double y, bool negated, const ElementLayout& layout, std::int64_t* words) {
  if (x == 0 || y == 0) return;
  DoubleParts a = parts_of(x), b = parts_of(y);
  for (DoubleParts* p : {&a, &b}) {  // to the lowest set bit, which the first digit was chosen by
    const int zeros = std::countr_zero(p->significand);
    p->significand >>= zeros;
    p->exponent += zeros;
  }
  add_to_digits((a.negative != b.negative) != negated, static_cast<Uint128>(a.significand) * b.significand,
                a.exponent + b.exponent - layout.lowest, 0, layout.digits,
                [&](int d) -> std::int64_t& { return words[d]; });
}

// Limbs of the integer that residues stand for: it is added exactly, so any representative serves.
void limbs_of_residues(const PassData& pass, const std::int8_t* residues, int limbs, std::int64_t* words) {
  const SignedInteger x = recombine_entry(*pass.tables, residues, 1);
  for (int l = 0; l < limbs; ++l) {
    const auto limb = static_cast<std::int64_t>(x.magnitude.bits(limb_width * l, limb_width));
    words[l] = x.negative ? -limb : limb;
  }
}

}  // namespace

template <class T>
void convert_digits(const PassData& pass, const PartView<T>& view, bool conjugated, std::byte* out, std::int64_t ld) {
  using R = RealType<T>;
  const std::size_t bytes = pass.layout.bytes();
  const Workspace memory(Strip<T>::bytes() + Arena::alignment);
  Strip<T> strip(Arena::first_page(memory.data()));
  for (std::int64_t first = 0; first < view.vectors(); first += strip_size)
    for (std::int64_t k = 0; k < view.ks(); k += gathered_k) {
      strip.gather(view, first, k, conjugated);
      for (std::int64_t v = 0; v < strip.vectors; ++v)
        for (std::int64_t l = 0; l < strip.ks; ++l) {
          std::byte* to = out + bytes * static_cast<std::size_t>(view.place(first + v, k + l, ld));
          std::fill(to, to + bytes, std::byte{0});
          for (int p = 0; p < Strip<T>::parts; ++p) {
            const R x = strip.part(p)[l * strip_size + v];
            const std::uint8_t c = class_of(x);
            if ((c & class_special) == 0) reinterpret_cast<double*>(to)[p] = static_cast<double>(x);
            if (pass.specials) to[pass.layout.class_offset() + static_cast<std::size_t>(p)] = std::byte{c};
          }
        }
    }
}

void multiply_digits(const PassData& pass, const ElementProduct& p) {
  const ElementLayout& layout = pass.layout;
  for (std::int64_t j = 0; j < p.n; ++j)
    for (std::int64_t i = 0; i < p.m; ++i) {
      auto* words = reinterpret_cast<std::int64_t*>(p.c + static_cast<std::size_t>(i + j * p.ldc) * layout.bytes());
      for (std::int64_t l = 0; l < p.k; ++l) {
        const auto *a = reinterpret_cast<const double*>(p.a.at(i, l)),
                   *b = reinterpret_cast<const double*>(p.b.at(j, l));
        add_digit_product(a[0], b[0], false, layout, words);
        if (layout.parts == 1) continue;
        add_digit_product(a[1], b[1], true, layout, words);
        add_digit_product(a[1], b[0], false, layout, words + layout.digits);
        add_digit_product(a[0], b[1], false, layout, words + layout.digits);
      }
      for (int part = 0; part < layout.parts; ++part) carry_digits(words + part * layout.digits, layout.digits);
    }
}

// The integer is below P / 2.
int limbs_of(const PassData& pass) {
  return (residue_system(pass.layout.moduli).product.bit_width() - 1 + limb_width - 1) / limb_width;
}

std::size_t element_words(const PassData& pass) {
  const ElementLayout& layout = pass.layout;
  const int own = layout.moduli > 0 ? limbs_of(pass) : layout.digits;
  return static_cast<std::size_t>(layout.parts * own + (pass.specials ? layout.parts : 0));
}

void elements_to_words(const PassData& pass, std::int64_t count, const std::byte* elements, std::int64_t* words) {
  const ElementLayout& layout = pass.layout;
  const int own = layout.moduli > 0 ? limbs_of(pass) : layout.digits;
  for (std::int64_t e = 0; e < count; ++e, elements += layout.bytes(), words += element_words(pass)) {
    for (int p = 0; p < layout.parts; ++p) {
      if (layout.moduli > 0)
        limbs_of_residues(pass, reinterpret_cast<const std::int8_t*>(elements) + p * layout.moduli, own,
                          words + p * own);
      else
        std::copy_n(reinterpret_cast<const std::int64_t*>(elements) + p * own, own, words + p * own);
      if (!pass.specials) continue;
      words[layout.parts * own + p] =
          class_counts(static_cast<std::uint8_t>(elements[layout.class_offset() + static_cast<std::size_t>(p)]));
    }
  }
}

void words_to_elements(const PassData& pass, std::int64_t count, const std::int64_t* words, std::byte* elements) {
  const ElementLayout& layout = pass.layout;
  std::optional<LimbResidues> residues;
  if (layout.moduli > 0) residues.emplace(residue_system(layout.moduli));
  const int own = layout.moduli > 0 ? limbs_of(pass) : layout.digits;
  for (std::int64_t e = 0; e < count; ++e, elements += layout.bytes(), words += element_words(pass)) {
    std::fill(elements, elements + layout.bytes(), std::byte{0});
    for (int p = 0; p < layout.parts; ++p) {
      if (layout.moduli > 0)
        for (int q = 0; q < layout.moduli; ++q)
          elements[p * layout.moduli + q] = static_cast<std::byte>(residues->residue(words + p * own, own, q));
      else
        std::copy_n(words + p * own, own, reinterpret_cast<std::int64_t*>(elements) + p * own);
      if (!pass.specials) continue;
      elements[layout.class_offset() + static_cast<std::size_t>(p)] =
          std::byte{class_of_counts(words[layout.parts * own + p])};
    }
  }
}

VERNIER_TYPE_INSTANCES(convert_digits)

}  // namespace vernier
