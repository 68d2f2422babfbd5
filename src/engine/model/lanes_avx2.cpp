// The vector path for AVX2: 8 lanes.
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__x86_64__)
#pragma GCC target("avx2")
#include "engine/model/lanes.hpp"

namespace vernier::model {

void row_avx2(const RowTask& task) { row_of<8>(task); }

}  // namespace vernier::model
#endif
