// The backends of the scheme under test.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "residue/backend.hpp"

namespace vernier::test {

template <class T>
class SchemeTest : public testing::Test {};
using Types = testing::Types<float, double>;

// Those with vectors that run here.
template <class T>
std::vector<const SchemeBackend<T>*> vector_backends() {
  std::vector<const SchemeBackend<T>*> list;
  for (const SchemeBackend<T>* backend : {avx2_backend<T>(), avx512_backend<T>()})
    if (backend != nullptr) list.push_back(backend);
  return list;
}

// Ends the test, visibly untested, where the machine has none of their instructions.
#define VERNIER_NEEDS_VECTORS(T)    \
  if (vector_backends<T>().empty()) \
  GTEST_SKIP() << "NOT TESTED: this machine lacks the AVX2 and the AVX-512 of the vector backends"

}  // namespace vernier::test
