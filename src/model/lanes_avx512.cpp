// The vector path for AVX-512: 16 lanes. The build compiles this file for that instruction set.
#include "model/lanes.hpp"

namespace vernier::model {

void rows_avx512(const RowTask& task) { rows_of<16>(task); }

}  // namespace vernier::model
