// Residues by matrix instructions: the lanes of a warp are gone through one by one, and the instruction computed by its
// definition (PTX ISA, mma.m16n8k32).
#include "residue/convert/residue_fragments.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

#include "residue/convert/digits.hpp"

namespace vernier::residue_fragments_test {
namespace {

constexpr int lanes = 32;

struct Fragments {
  std::array<std::array<std::uint32_t, 4>, lanes> a{};
  std::array<std::array<std::uint32_t, 2>, lanes> b{};
};

int byte_of(std::uint32_t word, int i) { return static_cast<int>(word >> (8 * i) & 255); }

// Row of 16, byte of 32: bytes 0 .. 15 are in the first two registers, rows 0 .. 7 in those of even number.
int weight(const Fragments& f, int row, int k) {
  const int lane = row % 8 * 4 + k % 16 / 4, reg = (k / 16) * 2 + row / 8;
  return static_cast<std::int8_t>(byte_of(f.a[static_cast<std::size_t>(lane)][static_cast<std::size_t>(reg)], k % 4));
}
int element_byte(const Fragments& f, int k, int column) {
  return byte_of(f.b[static_cast<std::size_t>(column * 4 + k % 16 / 4)][static_cast<std::size_t>(k / 16)], k % 4);
}

// d[lane][i]: rows lane / 4 and lane / 4 + 8, columns 2 (lane % 4) and the next.
std::array<std::array<int, 4>, lanes> multiplied(const Fragments& f) {
  std::array<std::array<int, 4>, lanes> d{};
  for (int lane = 0; lane < lanes; ++lane)
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 32; ++k)
        d[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)] +=
            weight(f, lane / 4 + i / 2 * 8, k) * element_byte(f, k, 2 * (lane % 4) + i % 2);
  return d;
}

int expected(const std::array<std::uint32_t, 2>& element, const ByteReduction<2>& r) {
  const std::uint32_t words[2] = {element[0], element[1]};
  return static_cast<int>(residue_byte(words, r) & 255);
}

TEST(ResidueFragments, ChunksAreAPermutation) {
  std::set<int> chunks;
  for (int lane = 0; lane < lanes; ++lane) chunks.insert(chunk_of_lane(lane));
  EXPECT_EQ(chunks.size(), 32u);
  EXPECT_EQ(*chunks.rbegin(), 31);
}

TEST(ResidueFragments, OfAPieceOf128Elements) {
  constexpr int first_modulus = 5;
  std::mt19937_64 random(1);
  std::array<std::array<std::uint32_t, 2>, 128> words{};
  for (auto& w : words) w = {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
  std::array<ByteReduction<2>, fragment_moduli> reductions;
  for (int q = 0; q < fragment_moduli; ++q)
    reductions[static_cast<std::size_t>(q)] =
        digit_reduction<2>(moduli[static_cast<std::size_t>(first_modulus + q)], ByteForm::natural);
  std::array<std::array<int, 128>, fragment_moduli> got{};
  for (auto& plane : got) plane.fill(-1);
  for (int t = 0; t < 4; ++t) {
    Fragments f;
    for (int lane = 0; lane < lanes; ++lane) {
      const auto l = static_cast<std::size_t>(lane);
      const auto& r = reductions[static_cast<std::size_t>(fragment_modulus(lane))];
      const bool lower = holds_weights(lane, false), upper = holds_weights(lane, true);
      f.a[l] = {lower ? r.weights[0] : 0, upper ? r.weights[0] : 0, lower ? r.weights[1] : 0, upper ? r.weights[1] : 0};
      f.b[l] = words[static_cast<std::size_t>(4 * chunk_of_lane(lane) + t)];
    }
    const auto d = multiplied(f);
    for (int lane = 0; lane < lanes; ++lane) {
      const auto& r = reductions[static_cast<std::size_t>(fragment_modulus(lane))];
      for (int i = 0; i < 4; ++i) {
        const int at = fragment_byte(lane) + 4 * i + t;
        int& residue = got[static_cast<std::size_t>(fragment_modulus(lane))][static_cast<std::size_t>(at)];
        EXPECT_EQ(residue, -1) << "written twice";
        residue = static_cast<int>(
            remainder_byte(r.start + d[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)], r) & 255);
      }
    }
  }
  for (std::size_t q = 0; q < fragment_moduli; ++q)
    for (std::size_t l = 0; l < 128; ++l)
      ASSERT_EQ(got[q][l], expected(words[l], reductions[q])) << "modulus " << q << ", element " << l;
}

TEST(ResidueFragments, OfTwoPiecesModuloTwoThatAreLeft) {
  constexpr std::size_t first_modulus = 12;
  static_assert(grouped_moduli(14) == 12 && grouped_moduli(13) == 12 && grouped_moduli(15) == 16);
  std::mt19937_64 random(2);
  std::array<std::array<std::array<std::uint32_t, 2>, 128>, 2> words{};
  for (auto& piece : words)
    for (auto& w : piece) w = {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
  std::array<ByteReduction<2>, 2> reductions;
  for (std::size_t q = 0; q < 2; ++q) reductions[q] = digit_reduction<2>(moduli[first_modulus + q], ByteForm::natural);
  std::array<std::array<std::array<int, 128>, 2>, 2> got{};  // [piece][modulus]
  for (auto& piece : got)
    for (auto& plane : piece) plane.fill(-1);
  for (int t = 0; t < 4; ++t) {
    std::array<std::array<int, 4>, lanes> d{};
    for (int p = 0; p < 2; ++p) {
      Fragments f;
      for (int lane = 0; lane < lanes; ++lane) {
        const auto l = static_cast<std::size_t>(lane);
        const auto& r = reductions[static_cast<std::size_t>(shared_modulus(lane))];
        const bool mine = shared_piece(lane) == p;
        const bool lower = mine && holds_weights(lane, false), upper = mine && holds_weights(lane, true);
        f.a[l] = {lower ? r.weights[0] : 0, upper ? r.weights[0] : 0, lower ? r.weights[1] : 0,
                  upper ? r.weights[1] : 0};
        f.b[l] = words[static_cast<std::size_t>(p)][static_cast<std::size_t>(4 * chunk_of_lane(lane) + t)];
      }
      const auto product = multiplied(f);
      for (std::size_t l = 0; l < lanes; ++l)
        for (std::size_t i = 0; i < 4; ++i) d[l][i] += product[l][i];
    }
    for (int lane = 0; lane < lanes; ++lane) {
      const auto q = static_cast<std::size_t>(shared_modulus(lane)), p = static_cast<std::size_t>(shared_piece(lane));
      for (int i = 0; i < 4; ++i) {
        int& residue = got[p][q][static_cast<std::size_t>(fragment_byte(lane) + 4 * i + t)];
        EXPECT_EQ(residue, -1) << "written twice";
        const int sum = d[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)];
        residue = static_cast<int>(remainder_byte(reductions[q].start + sum, reductions[q]) & 255);
      }
    }
  }
  for (std::size_t p = 0; p < 2; ++p)
    for (std::size_t q = 0; q < 2; ++q)
      for (std::size_t l = 0; l < 128; ++l)
        ASSERT_EQ(got[p][q][l], expected(words[p][l], reductions[q]))
            << "piece " << p << ", modulus " << q << ", element " << l;
}

}  // namespace
}  // namespace vernier::residue_fragments_test
