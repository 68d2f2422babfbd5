// The vector path for AVX-512: 16 lanes. The build compiles this file for that instruction set.
#include "engine/model/lanes.hpp"

namespace vernier::model {

void row_avx512(const RowTask& task) { row_of<16>(task); }

}  // namespace vernier::model
