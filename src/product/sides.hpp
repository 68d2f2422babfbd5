// What there is of both operands of a product.
#pragma once

namespace vernier {

enum class Side : char;  // vernier/level3.hpp, which kernels need not read
inline constexpr Side both_sides[] = {Side{'L'}, Side{'R'}};
constexpr Side other(Side side) { return side == both_sides[0] ? both_sides[1] : both_sides[0]; }

template <class X>
struct Sides {
  X a{}, b{};  // rows of op(A), columns of op(B)

  constexpr X& operator[](Side side) { return side == both_sides[0] ? a : b; }
  constexpr const X& operator[](Side side) const { return side == both_sides[0] ? a : b; }
};

struct NamedSide {
  const char* name;  // of the matrix
  Side side;
};
inline constexpr NamedSide named_sides[] = {{"A", both_sides[0]}, {"B", both_sides[1]}};

}  // namespace vernier
