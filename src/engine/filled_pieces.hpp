// Which pieces of two operands hold something. What is zeros throughout in either of them need not be multiplied: parts
// of triangles, bands and blocks, and of vectors whose later elements are nothing beside their first ones.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/panel.hpp"
#include "number/host_device.hpp"

namespace vernier {

inline constexpr std::int64_t piece_k = 128, piece_vectors = 64;
inline constexpr std::int64_t longest_filled_k = 32 * 32 * piece_k;  // a warp looks at all words of a group

constexpr std::int64_t piece_groups(std::int64_t vectors) { return divide_up(vectors, piece_vectors); }
constexpr std::int64_t piece_words(std::int64_t k) { return divide_up(k, 32 * piece_k); }  // of a group of vectors
constexpr std::size_t filled_words(std::int64_t vectors, std::int64_t k) {
  return static_cast<std::size_t>(piece_groups(vectors) * piece_words(k));
}

// [group][words]: bit b of word w says that 128 k from piece_k (32 w + b) on are not all zeros in 64 vectors. Null: all
// pieces count.
struct FilledPieces {
  const std::uint32_t* rows = nullptr;
  const std::uint32_t* columns = nullptr;
  int words = 0;

  VERNIER_HD constexpr bool known() const { return rows != nullptr; }
};

}  // namespace vernier
