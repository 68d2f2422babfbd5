// Names of the enumerators of engine descriptions, both ways.
#pragma once

#include <array>
#include <string_view>

#include "vernier/model.hpp"

namespace vernier::model {

template <class E>
struct Names;

template <>
struct Names<Format> {
  static constexpr std::string_view what = "format";
  static constexpr std::array<std::string_view, 13> list = {"fp16", "bf16", "tf32", "e4m3", "e5m2",  "e3m2", "e2m3",
                                                            "e2m1", "fp32", "fp64", "int8", "uint8", "int32"};
};
template <>
struct Names<Rounding> {
  static constexpr std::string_view what = "rounding";
  static constexpr std::array<std::string_view, 5> list = {"nearest even", "toward zero", "down", "up", "nearest away"};
};
template <>
struct Names<Sum> {
  static constexpr std::string_view what = "kind of sum";
  static constexpr std::array<std::string_view, 3> list = {"block", "chain", "integer"};
};
template <>
struct Names<Join> {
  static constexpr std::string_view what = "place of c";
  static constexpr std::array<std::string_view, 2> list = {"first", "last"};
};
template <>
struct Names<Overflow> {
  static constexpr std::string_view what = "overflow";
  static constexpr std::array<std::string_view, 5> list = {"infinity", "largest", "wrap", "saturate blocks",
                                                           "saturate end"};
};
template <>
struct Names<ZeroSign> {
  static constexpr std::string_view what = "sign of zero";
  static constexpr std::array<std::string_view, 2> list = {"positive", "ieee"};
};
template <>
struct Names<NanRule> {
  static constexpr std::string_view what = "rule for NaNs";
  static constexpr std::array<std::string_view, 7> list = {"canonical", "a b s", "a s b", "b a s",
                                                           "b s a",     "s a b", "s b a"};
};

template <class E>
constexpr std::string_view name_of(E value) {
  return Names<E>::list[static_cast<std::size_t>(value)];
}

}  // namespace vernier::model
