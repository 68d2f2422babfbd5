// Blocks on the diagonals of triangles in device memory.
#pragma once

#include <type_traits>

namespace vernier::cuda {

inline constexpr int triangle_block = 128;

// What inverses of diagonal blocks are kept in: numbers of T, but at least floats.
template <class T>
using InverseOf = std::conditional_t<(sizeof(T) < sizeof(float)), float, T>;

}  // namespace vernier::cuda
