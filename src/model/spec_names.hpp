// Names of the enumerators of engine descriptions, both ways.
#pragma once

#include <array>
#include <string_view>

#include "vernier/model.hpp"

namespace vernier::model {

template <std::size_t Count>
struct Names {
  std::string_view what;
  std::array<std::string_view, Count> list;
};
template <class E>
inline constexpr Names<0> names_of{};

template <>
inline constexpr Names<13> names_of<Format>{
    "format",
    {"fp16", "bf16", "tf32", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "fp32", "fp64", "int8", "uint8", "int32"}};
template <>
inline constexpr Names<5> names_of<Rounding>{"rounding", {"nearest even", "toward zero", "down", "up", "nearest away"}};
template <>
inline constexpr Names<3> names_of<Sum>{"kind of sum", {"block", "chain", "integer"}};
template <>
inline constexpr Names<2> names_of<Join>{"place of c", {"first", "last"}};
template <>
inline constexpr Names<5> names_of<Overflow>{"overflow",
                                             {"infinity", "largest", "wrap", "saturate blocks", "saturate end"}};
template <>
inline constexpr Names<2> names_of<ZeroSign>{"sign of zero", {"positive", "ieee"}};
template <>
inline constexpr Names<7> names_of<NanRule>{"rule for NaNs",
                                            {"canonical", "a b s", "a s b", "b a s", "b s a", "s a b", "s b a"}};

template <class E>
constexpr std::string_view name_of(E value) {
  return names_of<E>.list[static_cast<std::size_t>(value)];
}

}  // namespace vernier::model
