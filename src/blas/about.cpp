#include "engine/int8_engine.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

std::vector<EngineInfo> engines() {
  std::vector<EngineInfo> list;
  for (const Int8Engine* engine : int8_engines()) {
    const std::string missing = engine->missing();
    list.push_back({std::string(engine->name()), std::string(engine->description()), missing.empty(), missing});
  }
  return list;
}

std::string default_engine() {
  const std::string requested = requested_engine("");
  return requested == "native" ? requested : std::string(find_int8_engine("").name());
}

bool cuda_compiled() { return VERNIER_HAS_CUDA != 0; }

const char* version() { return VERNIER_VERSION; }

}  // namespace vernier
