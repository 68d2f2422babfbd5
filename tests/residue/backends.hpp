// The backends of the scheme under test.
#pragma once

#include <gtest/gtest.h>

#include "residue/backend.hpp"

namespace vernier::test {

template <class T>
class SchemeTest : public testing::Test {};
using Types = testing::Types<float, double>;

// Ends the test, visibly untested, where the machine has no AVX-512.
#define VERNIER_NEEDS_AVX512(T)                                               \
  if (avx512_backend<T>() == nullptr)                                         \
  GTEST_SKIP() << "NOT TESTED: this machine lacks the AVX-512 of the vector " \
                  "backend"

}  // namespace vernier::test
