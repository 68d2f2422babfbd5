// The vector path for AVX2: 8 lanes. The build compiles this file for that instruction set.
#include "model/lanes.hpp"

namespace vernier::model {

void rows_avx2(const RowTask& task) { rows_of<8>(task); }

}  // namespace vernier::model
