// An instruction beside its model.
#pragma once

#include <cstring>

#include "cases.hpp"
#include "model/element.hpp"
#include "model/spec.hpp"

namespace vernier::model::cpu {

struct Subject {
  const Instruction& instruction;
  Engine engine;
  int (*fill)(Tiles&, Random&);
  std::uint32_t (*model)(const Tiles&, int row, int column, std::uint32_t c);
};

// Bytes of product k of element (row, column).
template <class T>
T element_a(const Tiles& t, bool tile, int row, int column, int k) {
  T x;
  std::memcpy(&x, t.a + (tile ? row * 64 : (row * columns + column) * 4) + k * static_cast<int>(sizeof(T)), sizeof x);
  return x;
}
template <class T>
T element_b(const Tiles& t, bool tile, int row, int column, int k) {
  constexpr int per_word = 4 / static_cast<int>(sizeof(T));
  T x;
  const int word = tile ? k / per_word * columns + column : row * columns + column;
  std::memcpy(&x, t.b + word * 4 + k % per_word * static_cast<int>(sizeof(T)), sizeof x);
  return x;
}

template <class T, bool tile, const Engine& e>
std::uint32_t model_element(const Tiles& t, int row, int column, std::uint32_t c) {
  if constexpr (e.sum == Sum::integer) {
    constexpr int count = e.k;
    std::uint64_t a[count], b[count];
    for (int k = 0; k < count; ++k) {
      a[k] = element_a<T>(t, tile, row, column, k);
      b[k] = element_b<T>(t, tile, row, column, k);
    }
    return static_cast<std::uint32_t>(sum_integers(e, a, b, c));
  } else {
    const auto load = [&](int k, Unpacked& x, Unpacked& y) {
      x = load_input(e, e.a, element_a<T>(t, tile, row, column, k));
      y = load_input(e, e.b, element_b<T>(t, tile, row, column, k));
    };
    return static_cast<std::uint32_t>(sum_chain(e, load, c));
  }
}

}  // namespace vernier::model::cpu
