#include "engine/amx_kernel.hpp"
#include "engine/amx_tile.hpp"
#include "engine/bound/bound_loop.hpp"
#include "engine/loop_choice.hpp"

namespace vernier {
namespace {

struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

void ldtilecfg(const TileConfiguration& configuration) { asm volatile("ldtilecfg %0" : : "m"(configuration)); }
void tilerelease() { asm volatile("tilerelease"); }

}  // namespace

void configure_amx_tiles() { ldtilecfg(TileConfiguration{}); }
void release_amx_tiles() { tilerelease(); }

void multiply_amx(const Int8Product& product) {
  static thread_local LoopChoice choice;  // 1: whole blocks
  multiply_tiles<AmxTile>(product, choice);
}
void multiply_bound_strips_amx(const BoundStrips& strips) { multiply_bound_strips<AmxTile>(strips); }

}  // namespace vernier
