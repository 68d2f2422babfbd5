#include "bf16x6/engine.hpp"
#include "engine/int8_engine.hpp"
#include "vernier/vernier.hpp"

namespace vernier {
namespace {

EngineInfo info(std::string_view name, std::string_view description, const std::string& missing) {
  return {std::string(name), std::string(description), missing.empty(), missing};
}

}  // namespace

std::vector<EngineInfo> engines() {
  std::vector<EngineInfo> list;
  for (const Int8Engine* engine : int8_engines())
    list.push_back(info(engine->name(), engine->description(), engine->missing()));
  return list;
}

std::vector<EngineInfo> part_engines() {
  const Bf16x6Engine* engine = bf16x6_engine();
  if (engine == nullptr) return {};
  return {info(engine->name, engine->description, engine->missing())};
}

std::string default_engine() {
  const std::string requested = requested_engine("");
  return requested == "native" ? requested : std::string(find_int8_engine("").name());
}

bool cuda_compiled() { return VERNIER_HAS_CUDA != 0; }

const char* version() { return VERNIER_VERSION; }

}  // namespace vernier
