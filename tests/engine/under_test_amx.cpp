#include "avx512_under_test.hpp"
#include "emulated_tile.hpp"
#include "engine/amx_kernel.hpp"

namespace vernier::test {

namespace {

struct Alternating {
  int turns = 0;

  int loop() { return turns++ % 3 > 0 ? 1 : 0; }
  void took(double) {}
};

}  // namespace

void multiply_on_emulated_tiles(const Int8Product& product) {
  static thread_local Alternating turns;
  multiply_tiles<EmulatedTile>(product, turns);
}

void reduce_unit_avx512(const std::int32_t* sums, int modulus, std::int64_t k, bool accumulate, std::int8_t* out) {
  reduce_unit(_mm512_load_si512(sums), _mm512_load_si512(sums + 16), _mm512_load_si512(sums + 32),
              _mm512_load_si512(sums + 48), make_vector_reduction(modulus, k, accumulate), out);
}

}  // namespace vernier::test
