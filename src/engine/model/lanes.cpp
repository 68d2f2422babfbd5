// The choice of the vector path, at run time.
#include "engine/model/tile.hpp"

namespace vernier::model {

#if VERNIER_X86
const VectorPath* find_vector_path(std::string_view name) {
  static constexpr VectorPath avx512{"avx512", 16, rows_avx512};
  static constexpr VectorPath avx2{"avx2", 8, rows_avx2};
  __builtin_cpu_init();
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx512 && (name.empty() || name == "avx512")) return &avx512;
  if (__builtin_cpu_supports("avx2") && (name.empty() || name == "avx2")) return &avx2;
  return nullptr;
}
#else
const VectorPath* find_vector_path(std::string_view) { return nullptr; }
#endif

}  // namespace vernier::model
