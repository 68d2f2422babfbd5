#include "base/cpu_features.hpp"
#include "base/status.hpp"
#include "base/variable.hpp"
#include "engine/int8_engine.hpp"
#include "vernier/model.hpp"

namespace vernier {
namespace {

struct Entry {
  const char* name;
  const char* description;
  InstructionSet needs;
  Int8Instruction instruction;
  std::size_t scratch_bytes;
  void (*multiply)(const Int8Product&);
  void (*enter_thread)() = [] {};
  void (*leave_thread)() = [] {};
};

// In order of preference.
constexpr Entry entries[] = {
#if VERNIER_X86
    {"amx",
     "AMX tiles (TDPBSSD)",
     InstructionSet::amx,
     {"amx-int8-int8"},
     amx_scratch_bytes,
     multiply_amx,
     configure_amx_tiles,
     release_amx_tiles},
    {"avx512_vnni",
     "AVX-512 byte dot products (VPDPBUSD)",
     InstructionSet::avx512_vnni,
     {.model = "avx512-vnni", .largest_row = 255},
     0,
     multiply_avx512_vnni},
    {"avx2", "AVX2 16-bit multiply-add (VPMADDWD)", InstructionSet::avx2, {"int32"}, avx2_scratch_bytes, multiply_avx2},
#endif
    {"portable", "plain C++, any processor", InstructionSet::baseline, {"int32"}, 0, multiply_portable},
};

class BuiltEngine final : public Int8Engine {
 public:
  explicit BuiltEngine(const Entry& entry) : entry_(entry) {}
  std::string_view name() const override { return entry_.name; }
  std::string_view description() const override { return entry_.description; }
  std::string missing() const override { return missing_features(entry_.needs); }
  Int8Instruction instruction() const override { return entry_.instruction; }
  std::size_t scratch_bytes() const override { return entry_.scratch_bytes; }
  void enter_thread() const override { entry_.enter_thread(); }
  void leave_thread() const override { entry_.leave_thread(); }
  void multiply(const Int8Product& product) const override { entry_.multiply(product); }

 private:
  const Entry& entry_;
};

std::string supported_names() {
  std::string names;
  for (const Int8Engine* engine : int8_engines())
    if (engine->missing().empty()) names += (names.empty() ? "" : ", ") + std::string(engine->name());
  return names;
}

}  // namespace

std::int64_t longest_exact_k(const Int8Instruction& i) {
  return model::exact_length(model::find_engine(i.model).engine, i.largest_row, i.largest_column) / step_size *
         step_size;
}

const std::vector<const Int8Engine*>& int8_engines() {
  static const std::vector<BuiltEngine> built(std::begin(entries), std::end(entries));
  static const std::vector<const Int8Engine*> list = [] {
    std::vector<const Int8Engine*> engines;
    for (const BuiltEngine& engine : built) engines.push_back(&engine);
    return engines;
  }();
  return list;
}

const char* engine_in_environment() {
  static constinit Variable variable("VERNIER_ENGINE");
  return variable.get();
}

std::string requested_engine(std::string_view name) {
  if (!name.empty()) return std::string(name);
  const char* variable = engine_in_environment();
  return variable != nullptr ? variable : "";
}

const Int8Engine& preferred_int8_engine() {
  static const Int8Engine& preferred = []() -> const Int8Engine& {
    for (const Int8Engine* engine : int8_engines())
      if (engine->missing().empty()) return *engine;
    fail(Status::internal_error, "no int8 engine was built");  // portable runs everywhere
  }();
  return preferred;
}

const Int8Engine& find_int8_engine(std::string_view name) {
  const std::string wanted = requested_engine(name);
  if (wanted.empty()) return preferred_int8_engine();
  if (wanted.starts_with("model:")) return modelled_int8_engine(std::string_view(wanted).substr(6));
  const char* source = name.empty() ? "VERNIER_ENGINE" : "engine";
  const auto check = [&](const std::string& missing) {
    if (!missing.empty())
      fail(Status::unsupported, "{} \"{}\" cannot run on this machine, which lacks {}; it has: {}", source, wanted,
           missing, supported_names());
  };
  if (VERNIER_X86 && name.empty() && wanted == bf16_tile_engine) {
    check(missing_features(InstructionSet::amx_bf16));
    return preferred_int8_engine();
  }
  for (const Int8Engine* engine : int8_engines()) {
    if (wanted != engine->name()) continue;
    check(engine->missing());
    return *engine;
  }
  fail(Status::invalid_argument, "{} \"{}\" is not the name of an int8 engine of CPUs; this machine has: {}", source,
       wanted, supported_names());
}

}  // namespace vernier
