#include "fingerprint.hpp"

#include <cstring>

namespace vernier::interpose {
namespace {

constexpr std::uint64_t modulus = std::uint64_t{1} << 40;  // doubles hold the sum of 8192 processes

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t fingerprint(const Grid& grid, vernier_type type, const SubMatrix& x, const vernier_part& part,
                          char triangle) {
  const std::size_t size = element_size(type);
  std::uint64_t sum = 0;
  x.for_each([&](std::int64_t i, std::int64_t j, std::int64_t below) {
    if (triangle != 0 && (triangle == 'U' ? below > 0 : below < 0)) return;
    std::uint64_t words[2] = {};
    std::memcpy(words, static_cast<const char*>(part.X) + size * static_cast<std::size_t>(i + j * part.ldx), size);
    const auto place = static_cast<std::uint64_t>(x.rows()[static_cast<std::size_t>(i)]) << 32 |
                       static_cast<std::uint64_t>(x.columns()[static_cast<std::size_t>(j)]);
    sum += mixed(mixed(place + 1) ^ words[0]) ^ mixed(words[1]);
  });
  auto all = static_cast<double>(sum % modulus);
  pblas().sum(grid.context, "All", " ", 1, 1, &all, 1, -1, -1);
  return static_cast<std::uint64_t>(all) % modulus;
}

}  // namespace vernier::interpose
