#include "base/cpu_features.hpp"

#include <map>
#include <mutex>
#include <vector>

#include "base/fork_mutex.hpp"
#include "base/status.hpp"
#include "base/variable.hpp"
#include "engine/int8_engine.hpp"
#include "engine/reduction.hpp"
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

// Any engine of the model in the place of an int8 engine: "model:hopper-wgmma-fp16-fp32" and the like. Residues are
// integers that its formats hold, and the planner cuts k to what its sums hold, so that the bits are those of all
// others. For study: models are slow.

namespace {

// One operand of 32 vectors in a format of the engine. Unsigned bytes hold x + 128.
class Strip {
 public:
  Strip(model::Format format, std::int64_t k)
      : offset(format == model::Format::uint8 ? 128 : 0),
        sums(strip_size),
        bytes_(static_cast<std::size_t>(model::storage_bytes(format))),
        k_(static_cast<std::size_t>(k)),
        words_(bytes_ * k_ * strip_size) {
    for (int x = -128; x < 128; ++x) codes_[x + 128] = model::encode(format, x + offset);
  }

  // from: a strip of a plane; byte_of(vector, b) is column_byte or row_byte. Steps that are not filled are zeros.
  template <class ByteOf>
  void read(const std::int8_t* from, const ByteOf& byte_of, const FilledSteps& filled = {}) {
    for (int v = 0; v < strip_size; ++v) {
      sums[static_cast<std::size_t>(v)] = 0;
      for (std::size_t l = 0; l < k_; ++l) {
        const auto step = static_cast<std::int64_t>(l / step_size);
        const bool is_zero = step < filled.begin || step >= filled.end;
        const int x = is_zero ? 0 : from[step * step_bytes + byte_of(v, l % step_size)];
        sums[static_cast<std::size_t>(v)] += x;
        std::memcpy(&words_[(static_cast<std::size_t>(v) * k_ + l) * bytes_], &codes_[x + 128], bytes_);
      }
    }
  }
  const char* words() const { return words_.data(); }

  const std::int64_t offset;
  std::vector<std::int64_t> sums;  // of each vector

 private:
  std::size_t bytes_, k_;
  std::vector<char> words_;
  std::uint64_t codes_[256];
};

class ModelledEngine final : public Int8Engine {
 public:
  explicit ModelledEngine(const model::NamedEngine& row)
      : row_(row), name_("model:" + row.name), description_("the model of " + row.instruction + ", " + row.device) {}
  std::string_view name() const override { return name_; }
  std::string_view description() const override { return description_; }
  std::string missing() const override { return ""; }
  std::size_t scratch_bytes() const override { return 0; }
  Int8Instruction instruction() const override {
    const auto largest = [](model::Format format) { return format == model::Format::uint8 ? 255 : 128; };
    return {row_.name.c_str(), largest(row_.engine.a), largest(row_.engine.b)};
  }

  void multiply(const Int8Product& p) const override {
    const std::int64_t k = p.steps * step_size;
    Strip rows(row_.engine.a, k), columns(row_.engine.b, k);
    for (std::int64_t t = 0; t < p.column_strips; ++t) {
      columns.read(p.columns + t * p.steps * step_bytes, [](int v, std::size_t b) { return column_byte(v, int(b)); });
      for (std::int64_t v = 0; v < p.row_strips; ++v) {
        rows.read(
            p.rows + v * p.steps * step_bytes, [](int i, std::size_t b) { return row_byte(i, int(b)); },
            p.steps_of(t, v));
        multiply_block(rows, columns, k, p, p.out + (t * p.out_strips + v) * block_elements);
      }
    }
  }

 private:
  void multiply_block(const Strip& rows, const Strip& columns, std::int64_t k, const Int8Product& p,
                      std::int8_t* out) const {
    const auto bytes = static_cast<std::size_t>(model::storage_bytes(row_.engine.c));
    std::vector<char> sums(block_elements * bytes);
    model::multiply(row_.engine, {}, strip_size, strip_size, k, rows.words(), k, columns.words(), k, sums.data(),
                    sums.data(), strip_size);
    const Reduction reduction = make_reduction(p.modulus);
    for (std::size_t j = 0; j < strip_size; ++j)
      for (std::size_t i = 0; i < strip_size; ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, &sums[(i + j * strip_size) * bytes], bytes);
        const auto shifted = static_cast<std::int64_t>(model::decode(row_.engine.c, word));
        const std::int64_t sum =
            shifted - columns.offset * rows.sums[i] - rows.offset * columns.sums[j] - k * rows.offset * columns.offset;
        std::int8_t& element = out[residue_index(static_cast<int>(i), static_cast<int>(j))];
        const std::int32_t residue = reduce(static_cast<std::int32_t>(sum), reduction);
        element = static_cast<std::int8_t>(p.accumulate ? to_symmetric(residue + element, reduction) : residue);
      }
  }

  const model::NamedEngine& row_;
  std::string name_, description_;
};

ForkMutex& engines_mutex = *new ForkMutex;

}  // namespace

const Int8Engine& modelled_int8_engine(std::string_view row_name) {
  static std::map<std::string, ModelledEngine, std::less<>> engines;  // whose elements stay where they are
  const std::lock_guard lock(engines_mutex);
  const auto known = engines.find(row_name);
  if (known != engines.end()) return known->second;
  const model::NamedEngine& row = model::find_engine(row_name);
  const ModelledEngine engine(row);
  if (engine.longest_k() < step_size)
    fail(Status::invalid_argument,
         "engine \"{}\" does not sum {} products of residues (integers up to 128) without loss; expected one that does",
         engine.name(), step_size);
  return engines.emplace(row.name, engine).first->second;
}

}  // namespace vernier
