// Single cases that settle what the literature leaves open or contradicts itself on. The letters are those of
// docs/engines.md.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace vernier::model::gpu {

struct Question {
  std::string question, instruction;
  std::vector<std::tuple<int, std::uint64_t, std::uint64_t>> terms;  // product i, a, b
  std::uint64_t c = 0;
};

// Which of several NaNs an fp64 instruction hands on.
inline void add_nan_questions(std::vector<Question>& q) {
  const std::uint64_t a = 0x7ff800000000000a, b = 0xfff800000000000b, c = 0x7ff800000000000c, one = 0x3ff0000000000000;
  const std::uint64_t quiet = 0x0008000000000000, infinity = 0x7ff0000000000000;
  for (const std::string h : {"mma-fp64-k4", "mma-fp64-k16"}) {
    q.push_back({"NaNs: a = ...a, b = ...b", h, {{0, a, b}}});
    q.push_back({"NaNs: a = ...a, c = ...c", h, {{0, a, one}}, c});
    q.push_back({"NaNs: b = ...b, c = ...c", h, {{0, one, b}}, c});
    q.push_back({"NaNs: a = ...a, b = ...b, c = ...c", h, {{0, a, b}}, c});
    q.push_back({"NaNs: a = ...a, signalling b = ...b", h, {{0, a, b ^ quiet}}});
    q.push_back({"NaNs: signalling a = ...a, b = ...b", h, {{0, a ^ quiet, b}}});
    q.push_back({"NaNs: a = ...a, signalling c = ...c", h, {{0, a, one}}, c ^ quiet});
    q.push_back({"NaNs: signalling a = ...a, c = ...c", h, {{0, a ^ quiet, one}}, c});
    q.push_back({"NaNs: b = ...b, signalling c = ...c", h, {{0, one, b}}, c ^ quiet});
    q.push_back({"NaNs: inf * 0, c = ...c", h, {{0, infinity, 0}}, c});
    q.push_back({"NaNs: inf * 1, c = -inf", h, {{0, infinity, one}}, infinity | 0x8000000000000000});
    q.push_back({"NaNs: a0 = ...a, b1 = ...b", h, {{0, a, one}, {1, one, b}}});
  }
}

inline std::vector<Question> questions() {
  std::vector<Question> q;
  std::vector<std::tuple<int, std::uint64_t, std::uint64_t>> minus_zeros;
  for (int i = 0; i < 16; ++i) minus_zeros.push_back({i, 0x8000, 0x3c00});
  for (const std::string way : {"mma", "wgmma"}) {
    const std::string h = way + "-";
    q.push_back({"a: 2^-25 + 2^-46 with zeros, to fp16", h + "fp16-fp16", {{0, 0x0400, 0x1000}, {1, 0x0002, 0x0002}}});
    q.push_back({"a: 2^-25 + 2^-47 with zeros, to fp16", h + "fp16-fp16", {{0, 0x0400, 0x1000}, {1, 0x0001, 0x0002}}});
    q.push_back({"a: 2^-25 + 2^-48 with zeros, to fp16", h + "fp16-fp16", {{0, 0x0400, 0x1000}, {1, 0x0001, 0x0001}}});
    q.push_back({"b: 2^-25 beside 0 * 2^127, bf16", h + "bf16-fp32", {{0, 0, 0x7f00}, {1, 0x3300, 0x3f80}}});
    q.push_back({"b: 2^-25 beside 2^127 * 0, bf16", h + "bf16-fp32", {{0, 0x7f00, 0}, {1, 0x3300, 0x3f80}}});
    q.push_back(
        {"b: 2^-25 beside 0 * 2^127, tf32", h + "tf32-fp32", {{0, 0, 0x7f000000}, {1, 0x33000000, 0x3f800000}}});
    q.push_back({"c: 1 + 2^-11 + 2^-24, to fp16",
                 h + "fp16-fp16",
                 {{0, 0x3c00, 0x3c00}, {1, 0x1000, 0x3c00}, {2, 0x0001, 0x3c00}}});
    q.push_back({"d: every term -0, to fp32", h + "fp16-fp32", minus_zeros, 0x80000000});
    q.push_back({"d: every term -0, to fp16", h + "fp16-fp16", minus_zeros, 0x8000});
    q.push_back({"d: c = -0 and products +0, to fp32", h + "fp16-fp32", {}, 0x80000000});
    q.push_back({"d: 1 - 1, to fp32", h + "fp16-fp32", {{0, 0x3c00, 0x3c00}, {1, 0xbc00, 0x3c00}}});
    q.push_back({"d: -2^-160 underflows, bf16", h + "bf16-fp32", {{0, 0x8d80, 0x2180}}});
    q.push_back({"d: -2^-26 underflows, to fp16", h + "fp16-fp16", {{0, 0x8400, 0x0c00}}});
    q.push_back({"f: c = 1 + 2^-13 + 2^-14, products 0, e4m3", h + "e4m3-fp32", {}, 0x3f800600});
    q.push_back({"f: c = 1 + 2^-13 + 2^-14, product 2^-12, e4m3", h + "e4m3-fp32", {{0, 0x08, 0x08}}, 0x3f800600});
    q.push_back({"f: c = 2^-149, products 0, e4m3", h + "e4m3-fp32", {}, 1});
    q.push_back({"g: a = 0x7f800001, b = 1, tf32", h + "tf32-fp32", {{0, 0x7f800001, 0x3f800000}}});
    q.push_back({"g: a = 0x7f801fff, b = 1, tf32", h + "tf32-fp32", {{0, 0x7f801fff, 0x3f800000}}});
    q.push_back(
        {"fingerprint: 2^23 - 2^23 - 0.5 - 0.25 - 0.125",
         h + "fp16-fp32",
         {{0, 0x6800, 0x6c00}, {1, 0xe800, 0x6c00}, {2, 0xb800, 0x3c00}, {3, 0xb400, 0x3c00}, {4, 0xb000, 0x3c00}}});
    q.push_back({"h: INT_MAX + 1, wrapping", h + "int8", {{0, 1, 1}}, 0x7fffffff});
    for (const int j : {1, 2, 4, 8, 15, 16, 31})
      q.push_back({"h: INT_MAX + 1 - 1 (product " + std::to_string(j) + "), satfinite",
                   h + "int8-satfinite",
                   {{0, 1, 1}, {j, 0xff, 1}},
                   0x7fffffff});
    q.push_back(
        {"h: INT_MIN - 1 + 1 (product 16), satfinite", h + "int8-satfinite", {{0, 0xff, 1}, {16, 1, 1}}, 0x80000000});
  }
  q.push_back(
      {"e: 1 + 2^-11 + 2^-13, e4m3 to fp16", "wgmma-e4m3-fp16", {{0, 0x38, 0x38}, {1, 0x08, 0x10}, {2, 0x08, 0x04}}});
  q.push_back(
      {"e: 1 + 2^-11 + 2^-14, e4m3 to fp16", "wgmma-e4m3-fp16", {{0, 0x38, 0x38}, {1, 0x08, 0x10}, {2, 0x08, 0x02}}});
  q.push_back({"e: 2^-25 + 2^-32 with zeros, e5m2 to fp16", "wgmma-e5m2-fp16", {{0, 0x04, 0x10}, {1, 0x01, 0x01}}});
  add_nan_questions(q);
  return q;
}

}  // namespace vernier::model::gpu
