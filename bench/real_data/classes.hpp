// Products of the kinds that programs have: one name, one pair of factors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vernier::bench {

struct Factors {
  std::int64_t m = 0, n = 0, k = 0;
  std::vector<double> a, b;  // m x k and k x n, column-major without padding
};

struct RealClass {
  std::string name, description;
  std::int64_t longest_k = std::int64_t{1} << 40;  // of an update by a panel
  bool lapack = false;                             // which makes them: in the campaign k up to 300
  std::int64_t campaign_k = 0;                     // in the campaign half of them are longer
};

const std::vector<RealClass>& real_classes();

// The same on every machine but for what LAPACK computes. Throws std::out_of_range on an unknown name.
// different: so many rows of A and columns of B, over again beyond them; 0: all.
Factors make_factors(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed,
                     std::int64_t different = 0);

}  // namespace vernier::bench
