// The vector path for AVX-512: 16 lanes.
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#include "engine/model/lanes.hpp"

namespace vernier::model {

void row_avx512(const RowTask& task) { row_of<16>(task); }

}  // namespace vernier::model
#endif
