// Calls of the C and C++ interfaces beyond gemm and level 3, for memory that is refused at each of their sites.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "vernier/vernier.h"

namespace vernier::test {

// What a call writes: doubles that begin as small integers.
struct RefusedCall {
  const char* name;
  std::size_t parts;  // of equal size, each of which is as it was or complete: 1, or the products of a batch
  std::function<vernier_status(vernier_handle, double* out)> run;
};

inline constexpr std::size_t refused_doubles = 4 * 72 * 72;

std::vector<RefusedCall> refused_calls();

}  // namespace vernier::test
