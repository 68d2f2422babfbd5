// fp64: chains of fused multiply-adds. One warp per block of operands.
#include "cases.cuh"
#include "model/element.hpp"
#include "model/hardware/instructions.cuh"
#include "runner.hpp"

namespace vernier::model::gpu {
namespace {

__device__ std::uint64_t make_double(const Recipe& q, int centre, std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t r = std::uint64_t{random_word(seed, 3 * index)} << 32 | random_word(seed, 3 * index + 1);
  const std::uint32_t t = random_word(seed, 3 * index + 2);
  const std::uint64_t sign = r & 0x8000000000000000ull;
  std::uint64_t fraction = r & 0xfffffffffffffull;
  int field = centre + 1023 - q.width / 2 + static_cast<int>(t % static_cast<unsigned>(q.width + 1));
  if (q.stratum == uniform) return r;
  if (q.stratum == zero_heavy && (t >> 24) % 4 != 0) return sign;
  if (q.stratum == specials && (t >> 24) % 24 == 0)
    return sign | 0x7ff0000000000000ull | ((t >> 20) & 1 ? fraction : 0);
  if (q.stratum == subnormal && ((t >> 24) & 1) != 0) field = 0;
  if (q.stratum == powers && ((t >> 24) & 7) != 0) fraction = 0;
  if (((t >> 28) & 3) == 0) fraction &= 0xfffffffffffff000ull << ((t >> 16) % 40);
  if (((t >> 28) & 7) == 7) fraction = 0xfffffffffffffull ^ ((t >> 27) & 1);
  return sign | static_cast<std::uint64_t>(clamp(field, 0, 2046)) << 52 | fraction;
}

__device__ Recipe make_recipe64(std::uint64_t seed, std::uint64_t n) {
  const std::uint32_t r = random_word(seed, 4 * n), s = random_word(seed, 4 * n + 1);
  Recipe q;
  q.stratum = static_cast<int>(r % strata);
  q.width = 1 << ((r >> 8) % 6);
  q.centre_a = static_cast<int>(s % 1000) - 500;
  q.centre_b = static_cast<int>((s >> 16) % 1000) - 500;
  if (q.stratum == near_floor) q.centre_b = -1022 - q.centre_a - static_cast<int>(r >> 16 & 63);
  if (q.stratum == near_overflow) q.centre_b = 1023 - q.centre_a;
  q.centre_c = q.centre_a + q.centre_b + static_cast<int>((r >> 20) % 240) - 120;
  return q;
}

template <int K>
struct Chain {
  static constexpr Engine engine = hopper_double(K);
};

template <int K>
__device__ std::uint64_t model64(const Tile64<K>& tile, int row, int column, std::uint64_t c) {
  constexpr Engine E = Chain<K>::engine;
  const auto load = [&](int k, Unpacked& x, Unpacked& y) {
    x = unpack(shape_of(E.a), tile.a[row][k]);
    y = unpack(shape_of(E.b), tile.b[column][k]);
  };
  return sum_chain(E, load, c);
}

template <int K>
__global__ void __launch_bounds__(32) compare64(std::uint64_t seed, std::uint64_t tiles, Outcome* outcome) {
  __shared__ Tile64<K> tile;
  for (std::uint64_t n = blockIdx.x; n < tiles; n += gridDim.x) {
    const Recipe q = make_recipe64(seed, n);
    __syncwarp();
    for (int i = threadIdx.x; i < 24 * K; i += 32) {
      const int row = i / K, k = i % K;
      const bool paired = q.stratum == cancelling;
      const std::uint64_t index = n * 1024 + static_cast<unsigned>(row * K + (paired ? k & ~1 : k));
      std::uint64_t x = make_double(q, row < 16 ? q.centre_a : q.centre_b, seed, index);
      if (paired && row < 16 && (k & 1) != 0) x ^= 0x8000000000000000ull | (index & 1);
      (row < 16 ? tile.a[row] : tile.b[row - 16])[k] = x;
    }
    __syncwarp();
    std::uint64_t c[4], d[4];
    for (int i = 0; i < 4; ++i) {
      const int row = threadIdx.x / 4 + (i >= 2 ? 8 : 0), column = threadIdx.x % 4 * 2 + i % 2;
      c[i] = make_double(q, q.centre_c, seed, n * 1024 + 512 + static_cast<unsigned>(row * 8 + column));
      if (q.stratum == cancels_c) c[i] = (model64<K>(tile, row, column, 0) ^ 0x8000000000000000ull) + (c[i] & 3);
      d[i] = c[i];
    }
    __syncwarp();
    execute64<K>(tile, d);
    for (int i = 0; i < 4; ++i) {
      const int row = threadIdx.x / 4 + (i >= 2 ? 8 : 0), column = threadIdx.x % 4 * 2 + i % 2;
      const std::uint64_t m = model64<K>(tile, row, column, c[i]);
      if (m == d[i]) continue;
      constexpr FloatShape shape{11, 52};
      const bool nans = unpack(shape, m).kind == NumberClass::nan && unpack(shape, d[i]).kind == NumberClass::nan;
      const bool zeros = ((m | d[i]) << 1) == 0;
      atomicAdd(nans ? &outcome->nan_codes : zeros ? &outcome->zero_signs : &outcome->mismatches, 1ull);
      atomicAdd(&outcome->by_stratum[q.stratum], 1ull);
      const int kind = nans ? 1 : zeros ? 2 : 0;
      const unsigned slot = atomicAdd(&outcome->kept[kind], 1u);
      if (slot >= kept_cases) continue;
      Case& out = outcome->cases[kind * kept_cases + slot];
      for (int k = 0; k < K; ++k) {
        out.a[2 * k] = static_cast<std::uint32_t>(tile.a[row][k]);
        out.a[2 * k + 1] = static_cast<std::uint32_t>(tile.a[row][k] >> 32);
        out.b[2 * k] = static_cast<std::uint32_t>(tile.b[column][k]);
        out.b[2 * k + 1] = static_cast<std::uint32_t>(tile.b[column][k] >> 32);
      }
      out.c = c[i];
      out.d = d[i];
      out.model = m;
      out.stratum = q.stratum;
    }
  }
}

template <int K>
__global__ void __launch_bounds__(32) single64(Case* one) {
  __shared__ Tile64<K> tile;
  const std::uint64_t d = evaluate64<K>(tile, *one);
  if (threadIdx.x != 0) return;
  one->d = d;
  one->model = model64<K>(tile, 0, 0, one->c);
}

template <int K>
class DoubleRunner final : public Runner {
 public:
  explicit DoubleRunner(const char* name) : Runner(name, Chain<K>::engine, K == 4 ? 64 : 128) {}
  void launch(std::uint64_t seed, std::uint64_t tiles, Outcome* outcome) const override {
    compare64<K><<<4224, 32>>>(seed, tiles, outcome);
  }
  void launch_single(Case* one) const override { single64<K><<<1, 32>>>(one); }
  std::uint64_t cases_per_tile() const override { return 128; }
};

}  // namespace

void add_double_runners(Runners& r) {
  r.push_back(std::make_unique<DoubleRunner<4>>("mma-fp64-k4"));
  r.push_back(std::make_unique<DoubleRunner<16>>("mma-fp64-k16"));
}

}  // namespace vernier::model::gpu
