// Matrix instructions of x86 processors, on whole tiles: D = C + A B with 16 x 16 elements.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vernier/model.hpp"

namespace vernier::model::cpu {

inline constexpr int rows = 16, columns = 16;

// Of a tile instruction: A has 16 rows of 64 bytes; row p of B holds the pair (16-bit formats) or the four (bytes)
// elements p of each column, side by side. Of a vector instruction: a and b hold one pair, or four, per element of c.
struct alignas(64) Tiles {
  std::uint8_t a[1024], b[1024];
  std::uint32_t c[rows * columns], d[rows * columns];
};

struct Instruction {
  const char* engine;        // what it is called in the table of engines
  void (*run)(Tiles&);       // null where the build is for other processors
  bool tile;                 // configure_tiles() must have been called by the thread
  std::string (*missing)();  // what this processor or its system lacks, or ""
};

const std::vector<Instruction>& instructions();

void configure_tiles();
void release_tiles();

std::unique_ptr<MatrixEngine> open_instruction(const Instruction& instruction);  // element (0, 0)

}  // namespace vernier::model::cpu
