// One sweep over C by one number of moduli, or by digits: what all its functions read.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "engine/int8_engine.hpp"
#include "residue/partial/gather.hpp"
#include "residue/partial/layout.hpp"
#include "residue/recombine/recombine.hpp"
#include "residue/scale/scaling.hpp"

namespace vernier {

struct PassData {
  ElementLayout layout;
  bool narrow = false;  // scaled elements fit narrow digits
  int limbs = 1;        // else: limbs of 62 bits
  bool ordinary = true;
  bool specials = false;                     // there is a NaN or an infinity somewhere
  std::array<std::vector<int>, 2> scales{};  // of rows, of columns
  std::shared_ptr<const RecombineTables> tables;
  const Int8Engine* engine = nullptr;
  int threads = 1;
  Device device = Device::cpu;  // of local products

  const std::vector<int>& scales_of(Side side) const { return scales[side == Side::left ? 0 : 1]; }
};

template <class R>
std::uint8_t class_of(R x) {
  if (x != x) return class_nan;
  if (magnitude_bits(x) == infinity_bits<R>) return x > 0 ? class_plus : class_minus;
  return x == 0 ? class_zero : x > 0 ? class_positive : class_negative;
}

// Elements as vectors along k.
template <class Byte>
struct ElementView {
  Byte* data;
  std::int64_t ld;
  bool k_contiguous;
  std::size_t bytes;

  Byte* at(std::int64_t vector, std::int64_t l) const {
    return data + bytes * static_cast<std::size_t>(k_contiguous ? l + vector * ld : vector + l * ld);
  }
};

// A product of elements: C (m x n) += A B.
struct ElementProduct {
  std::int64_t m, n, k;
  ElementView<const std::byte> a, b;  // rows of op(A), columns of op(B)
  std::byte* c;
  std::int64_t ldc;
};

template <class T>
void convert_residues(const PassData& pass, Side side, const PartView<T>& view, bool conjugated, std::byte* out,
                      std::int64_t ld);
template <class T>
void convert_digits(const PassData& pass, const PartView<T>& view, bool conjugated, std::byte* out, std::int64_t ld);

void multiply_residues(const PassData& pass, const ElementProduct& product);
void multiply_digits(const PassData& pass, const ElementProduct& product);
void multiply_classes(const PassData& pass, const ElementProduct& product);  // after either, where there are specials

void add_elements(const PassData& pass, std::int64_t count, const std::byte* from, std::byte* to);

int limbs_of(const PassData& pass);  // of the words of a part, where there are moduli
std::size_t element_words(const PassData& pass);
void elements_to_words(const PassData& pass, std::int64_t count, const std::byte* elements, std::int64_t* words);
void words_to_elements(const PassData& pass, std::int64_t count, const std::int64_t* words, std::byte* elements);

// Adds the residues of elements, byte by byte; bytes that are no residues stay.
class ResidueSums {
 public:
  static constexpr std::size_t most_bytes = (2 * max_moduli + 2 + 7) / 8 * 8;

  explicit ResidueSums(const ElementLayout& layout);

  void add(std::int64_t elements, const std::int8_t* from, std::int8_t* to) const;

 private:
  static constexpr std::size_t lanes = 8;

  std::size_t bytes_;
  std::array<std::int16_t, most_bytes> modulus_{}, largest_{}, smallest_{}, mask_{};
};

}  // namespace vernier
