// Random numbers that are the same on every machine, from an explicit seed.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace vernier::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}

  double uniform() { return std::ldexp(static_cast<double>(generator_() >> 11), -53); }  // [0, 1)

  double normal() {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }

  std::int64_t integer(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(most - least + 1));
  }

  double sign() { return (generator_() & 1) != 0 ? -1.0 : 1.0; }

  // The papers' exp_rand: exponent uniform in [least, most], random significand; random sign.
  double exp_rand(int least, int most) {
    const double significand = sign() * (1 + uniform());
    return std::ldexp(significand, static_cast<int>(integer(least, most)));
  }

  // The papers' (rand - 0.5) exp(phi randn).
  double scattered(double phi) {
    const double value = uniform() - 0.5;
    return value * std::exp(phi * normal());
  }

  std::vector<std::int64_t> permutation(std::int64_t size) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), 0);
    for (std::int64_t i = size - 1; i > 0; --i)
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(integer(0, i))]);
    return order;
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace vernier::test
