// The properties that every int8 engine must have, as one function each: "" or what failed first.
#pragma once

#include <string>

#include "number/moduli.hpp"
#include "product_case.hpp"

namespace vernier::test {

// Tries the case on an engine: anything with scratch_bytes() and multiply(product).
template <class Engine>
std::string tried(const Engine& engine, const Shape& shape, int modulus, Values values, bool accumulate = false,
                  bool with_zeros = false) {
  return ProductCase(shape, modulus, values, accumulate, with_zeros)
      .mismatch(engine.scratch_bytes(), [&](const Int8Product& p) { engine.multiply(p); });
}

template <class Engine>
std::string every_blocking(const Engine& engine) {
  for (const std::int64_t column_strips : {1, 2, 3, 4})
    for (const std::int64_t row_strips : {1, 2, 3, 5})
      for (const std::int64_t steps : {1, 2, 5, 7}) {
        const Shape shape{column_strips, row_strips, steps};
        for (const int modulus : {256, 251})
          if (std::string text = tried(engine, shape, modulus, Values::random); !text.empty()) return text;
      }
  // Eight column strips are what the kernel for AMX treats by themselves, and what one loop takes.
  for (const Shape& shape : {Shape{2, 3, 33}, {8, 2, 2}, {9, 3, 1}, {9, 3, 2}, {11, 2, 5}, {35, 2, 3}})
    if (std::string text = tried(engine, shape, 253, Values::random); !text.empty()) return text;
  return "";
}

template <class Engine>
std::string every_modulus(const Engine& engine) {
  for (const int modulus : moduli)
    for (const Values values : {Values::random, Values::ends, Values::smallest, Values::largest, Values::opposite})
      if (std::string text = tried(engine, {1, 2, 3}, modulus, values); !text.empty()) return text;
  return "";
}

template <class Engine>
std::string longest_sums(const Engine& engine) {
  for (const int modulus : {256, 255, 253, 197, 113, 29})
    for (const Values values : {Values::smallest, Values::largest, Values::opposite, Values::random})
      if (std::string text = tried(engine, {1, 1, max_product_k / step_size}, modulus, values); !text.empty())
        return text;
  return "";
}

template <class Engine>
std::string zeros(const Engine& engine) {
  for (const bool accumulate : {false, true})
    for (const Shape& shape : {Shape{1, 1, 1}, {3, 5, 1}, {3, 5, 2}, {9, 4, 3}, {11, 6, 16}, {35, 2, 5}})
      for (const int modulus : {256, 253, 29})
        if (std::string text = tried(engine, shape, modulus, Values::random, accumulate, true); !text.empty())
          return text;
  return "";
}

template <class Engine>
std::string accumulation(const Engine& engine) {
  for (const int modulus : moduli)
    for (const Values values : {Values::random, Values::ends, Values::smallest})
      if (std::string text = tried(engine, {2, 2, 3}, modulus, values, true); !text.empty()) return text;
  for (const Shape& shape : {Shape{9, 2, 3}, {1, 1, max_product_k / step_size}})
    if (std::string text = tried(engine, shape, 255, Values::random, true); !text.empty()) return text;
  return "";
}

}  // namespace vernier::test
