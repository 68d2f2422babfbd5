// What there is of both operands of a product.
#pragma once

namespace vernier {

enum class Side : char;  // vernier/level3.hpp, which kernels need not read
inline constexpr Side both_sides[] = {Side{'L'}, Side{'R'}};

template <class X>
struct Sides {
  X a{}, b{};  // rows of op(A), columns of op(B)

  constexpr X& operator[](Side side) { return side == both_sides[0] ? a : b; }
  constexpr const X& operator[](Side side) const { return side == both_sides[0] ? a : b; }
};

}  // namespace vernier
