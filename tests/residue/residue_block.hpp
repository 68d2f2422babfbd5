// The residues of a block of integers that are hard to round.
#pragma once

#include <gmpxx.h>

#include <array>
#include <utility>
#include <vector>

#include "engine/panel.hpp"
#include "residue/recombine/recombine.hpp"
#include "residue/residues.hpp"
#include "support/random.hpp"

namespace vernier::test {

inline mpz_class integer(const WideInteger& x) {
  mpz_class z;
  mpz_import(z.get_mpz_t(), x.limb.size(), -1, sizeof(std::uint64_t), 0, 0, x.limb.data());
  return z;
}

inline mpz_class random_integer(const mpz_class& limit, Random& r) {  // 0 .. limit
  mpz_class z = 0;
  for (int i = 0; i < 7; ++i) z = (z << 60) + static_cast<long>(r.integer(0, (std::int64_t{1} << 60) - 1));
  return z % mpz_class(limit + 1);
}

// The integers of one block, |C| <= P / 2 (1 - 2^-20).
inline std::vector<mpz_class> integers(const ResidueSystem& system, Random& r) {
  const mpz_class product = integer(system.product), limit = (product * 1048575) >> 21;
  const auto bits = static_cast<std::int64_t>(mpz_sizeinbase(limit.get_mpz_t(), 2));
  std::vector<mpz_class> list;
  for (int e = 0; e < block_elements; ++e) {
    mpz_class c;
    const auto length = static_cast<unsigned long>(r.integer(0, bits - 1));
    const auto below = static_cast<unsigned long>(r.integer(0, static_cast<std::int64_t>(length)));
    switch (e % 8) {
      case 0:
        c = random_integer(limit, r);
        break;
      case 1:
        c = limit - e / 16;  // next to the end
        break;
      case 2:
        c = e / 16;  // zero and tiny ones
        break;
      case 3:
        c = mpz_class(1) << length;
        break;
      case 4: {  // a tie of float or double, or one bit beside it, however far down
        const unsigned long precision = e % 16 == 4 ? 24 : 53;
        const unsigned long half = length > precision ? length - precision : 0;
        const mpz_class least = mpz_class(1) << (precision - 1);
        c = (least + random_integer(least - 1, r)) * 2 + 1;
        c <<= half;
        c += mpz_class(r.integer(-1, 1)) << (half == 0 ? 0 : below % half);
        break;
      }
      case 5:
        c = random_integer(mpz_class(1) << length, r);
        break;
      case 6:  // all ones
        c = (mpz_class(1) << length) - 1 - (mpz_class(1) << below >> 1);
        break;
      default:  // next to halves, thirds ... of P, and of 2^53
        c = product / (2 + e / 16) + static_cast<long>(r.integer(-2, 2));
        break;
    }
    c = abs(c);
    if (c > limit) c = limit;
    list.push_back(e / 8 % 2 == 0 ? c : mpz_class(-c));
  }
  return list;
}

// As products of ordinary data have them: large, and far from numbers at which RN changes.
inline std::vector<mpz_class> large_integers(const ResidueSystem& system, Random& r) {
  const mpz_class limit = (integer(system.product) * 1048575) >> 21;
  std::vector<mpz_class> list;
  for (int e = 0; e < block_elements; ++e) {
    const mpz_class c = random_integer(limit, r);
    list.push_back(e % 3 == 0 ? c : mpz_class(-c));
  }
  return list;
}

struct Block {
  static constexpr std::size_t stride = block_elements + 64;
  const ResidueSystem& system;
  RecombineTables tables;
  std::vector<mpz_class> c;  // [column][row]
  std::vector<std::int8_t> storage;
  std::int8_t* residues;
  std::array<int, strip_size> row_scales{}, column_scales{};

  Block(int count, Random& r) : Block(count, integers(residue_system(count), r)) {}

  Block(int count, std::vector<mpz_class> list)
      : system(residue_system(count)),
        tables(system),
        c(std::move(list)),
        storage(stride * static_cast<std::size_t>(count) + 64) {
    residues = storage.data() + (64 - reinterpret_cast<std::uintptr_t>(storage.data()) % 64) % 64;
    for (int e = 0; e < block_elements; ++e) set(e, c[static_cast<std::size_t>(e)]);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Element e is x.
  void set(int e, const mpz_class& x) {
    c[static_cast<std::size_t>(e)] = x;
    for (int q = 0; q < system.count; ++q) {
      const auto i = static_cast<std::size_t>(q);
      const int p = moduli[i];
      const auto rest = static_cast<std::int64_t>(mpz_fdiv_ui(x.get_mpz_t(), static_cast<unsigned long>(p)));
      residues[i * stride + static_cast<std::size_t>(residue_index(e % strip_size, e / strip_size))] =
          static_cast<std::int8_t>(symmetric_residue(rest * system.row_factor[i], p));
    }
  }

  // Sums of scales around the given one.
  void scale(int sum, int spread, Random& r) {
    for (auto* scales : {&row_scales, &column_scales})
      for (int& s : *scales) s = sum / 2 + static_cast<int>(r.integer(-spread, spread));
  }
};

}  // namespace vernier::test
