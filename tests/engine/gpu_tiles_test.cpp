// How a GPU's engines cut products into tiles and planes, on a machine without one.
#include <gtest/gtest.h>

#include <utility>

#include "engine/panel.hpp"
#include "engine/sm90_tiles.hpp"
#include "engine/summed_planes.hpp"

namespace vernier::gpu_tiles_test {
namespace {

// A block at the edge of C is smaller, and then sums of more planes go together.
TEST(SummedPlanes, FitWhatLargerBlocksHaveRoomFor) {
  for (const std::int64_t planes : {1, 14, 54, 3000})
    for (const std::int64_t m : {1, 7, 64, 700, 2050, 9000})
      for (const std::int64_t n : {1, 64, 2100, 30000})
        for (const auto& [less_m, less_n] : {std::pair{m, n}, {divide_up(m, 2), n}, {m, divide_up(n, 3)}, {1, 1}})
          EXPECT_LE(summed_planes(less_m, less_n, planes) * sums_of_plane(less_m, less_n), sums_count(m, n, planes))
              << planes << " planes, " << less_m << " x " << less_n << " of " << m << " x " << n;
}

// Long in time and along k: about 40 ms at n = 16384, which is where pace was measured to pay.
static_assert(pace_pays(625, 64) && !pace_pays(624, 64) && !pace_pays(1000, 63));
static_assert(pace_pays(204, 64, 13000) && !pace_pays(203, 64, 13000) && !pace_pays(1000, 63, 13000));

TEST(Sm90Tiles, KeepPaceInLongProducts) {
  const auto paced = [](std::int64_t n, std::int64_t k, int planes, cuda::Sm90Variant tile) {
    return cuda::sm90_keeps_pace(cuda::sm90_tiles[tile], n, n, k, planes, 66);
  };
  EXPECT_TRUE(paced(8192, 8192, 98, cuda::alternating_128x192));
  EXPECT_FALSE(paced(8192, 8192, 14, cuda::alternating_128x192));
  // In these tiles it pays three times sooner: fewer bytes from memory, and so a higher clock at the power limit.
  EXPECT_TRUE(paced(8192, 8192, 14, cuda::cooperative_128x256));
  EXPECT_FALSE(paced(7000, 7000, 14, cuda::cooperative_128x256));
  EXPECT_FALSE(paced(16384, 4096, 14, cuda::cooperative_128x256));
}

// The choices that measurements on an H200 bear out, at n = 4096 those on an H100.
TEST(Sm90Tiles, FollowTheShape) {
  constexpr int clusters = 66;
  EXPECT_EQ(cuda::choose_sm90_tile(1024, 1024, 1024, 15, clusters), cuda::alternating_128x128);
  EXPECT_EQ(cuda::choose_sm90_tile(4096, 4096, 4096, 14, clusters), cuda::cooperative_128x256);
  EXPECT_EQ(cuda::choose_sm90_tile(4096, 4096, 4096, 17, clusters), cuda::cooperative_128x256);
  EXPECT_EQ(cuda::choose_sm90_tile(8192, 8192, 8192, 14, clusters), cuda::cooperative_128x256);
  EXPECT_EQ(cuda::choose_sm90_tile(8192, 8192, 4096, 14, clusters), cuda::alternating_128x192);
  // Strassen-Winograd at n = 16384 and 32768: seven products a modulus.
  EXPECT_EQ(cuda::choose_sm90_tile(8192, 8192, 8192, 98, clusters), cuda::cooperative_128x256);
  EXPECT_EQ(cuda::choose_sm90_tile(16384, 16384, 16384, 98, clusters), cuda::cooperative_128x256);
  EXPECT_EQ(cuda::choose_sm90_tile(16384, 16384, 16384, 15, clusters), cuda::cooperative_128x256);
  EXPECT_EQ(cuda::choose_sm90_tile(16384, 16384, 1024, 15, clusters), cuda::alternating_128x192);
}

}  // namespace
}  // namespace vernier::gpu_tiles_test
