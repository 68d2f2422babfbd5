// Systems of known_rule.hpp in host memory.
#pragma once

#include <vector>

#include "known_rule.hpp"

namespace vernier::test {

class KnownSystem {
 public:
  explicit KnownSystem(const bench::KnownRule& rule);  // throws where b = A x would be rounded
  std::vector<double> a, b, x;

 private:
  void fill(const bench::KnownRule& rule);
  void multiply(const bench::KnownRule& rule);
  void grade(const bench::KnownRule& rule);
};

}  // namespace vernier::test
