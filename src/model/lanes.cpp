// The choice of the vector path, at run time.
#include "base/cpu_features.hpp"
#include "model/tile.hpp"

namespace vernier::model {

#if VERNIER_X86
const VectorPath* find_vector_path(std::string_view name) {
  static constexpr VectorPath avx512{"avx512", 16, rows_avx512};
  static constexpr VectorPath avx2{"avx2", 8, rows_avx2};
  const auto usable = [&](const VectorPath& path, InstructionSet set) {
    return (name.empty() || name == path.name) && missing_features(set).empty();
  };
  if (usable(avx512, InstructionSet::avx512_vnni)) return &avx512;
  if (usable(avx2, InstructionSet::avx2)) return &avx2;
  return nullptr;
}
#else
const VectorPath* find_vector_path(std::string_view) { return nullptr; }
#endif

}  // namespace vernier::model
