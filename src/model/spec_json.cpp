// Engine descriptions as JSON, one key per field of the structure.
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/lists.hpp"
#include "model/spec.hpp"
#include "vernier/vernier.hpp"

namespace vernier::model {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void reject(const std::string& what) {
  throw Error(Status::invalid_argument, "engine description: " + what);
}

// visit(name, field) for every field that JSON carries.
template <class E, class Visit>
void for_each_field(E& e, const Visit& visit) {
#define VERNIER_VISIT(of, name) visit(#name, (of).name)
  VERNIER_LIST(VERNIER_VISIT, e, a, b, c, k, sum, block, interleave, join, fraction_bits, alignment, normalise_products,
               zero_exponent, zero_keeps_exponent, carry_bits, product_bits, sum_bits, lanes, reverse_pairs, rounding,
               join_rounding, output_fraction_bits, early_fraction_bits, flush_inputs, flush_c, flush_output, zero_sign,
               overflow, nan, nan_rule);
#undef VERNIER_VISIT
}

struct Writer {
  Json& json;
  template <class T>
  void operator()(const char* key, const T& value) const {
    if constexpr (std::is_enum_v<T>)
      json[key] = std::string(name_of(value));
    else
      json[key] = value;
  }
};

struct Reader {
  const Json& json;

  template <class T>
  void operator()(const char* key, T& value) const {
    const auto it = json.find(key);
    if (it == json.end()) return;
    if constexpr (std::is_enum_v<T>)
      value = read_name<T>(key, *it);
    else if constexpr (std::is_same_v<T, bool>)
      value = it->is_boolean() ? it->get<bool>() : (wrong(key, *it, "true or false"), false);
    else if constexpr (std::is_same_v<T, int>)
      value = read_int(key, *it);
    else
      value = it->is_number_unsigned() ? it->get<T>() : (wrong(key, *it, "an unsigned integer"), T{});
  }

  [[noreturn]] static void wrong(const std::string& key, const Json& value, const std::string& expected) {
    reject("'" + key + "' is " + value.dump() + "; expected " + expected);
  }

  static int read_int(const char* key, const Json& value) {
    if (!value.is_number_integer() || value.get<double>() < -1e6 || value.get<double>() > 1e6)
      wrong(key, value, "an integer of moderate size");
    return value.get<int>();
  }

  template <class T>
  static T read_name(const char* key, const Json& value) {
    std::string allowed;
    for (std::size_t i = 0; i < names_of<T>.list.size(); ++i) {
      if (value.is_string() && value.get<std::string>() == names_of<T>.list[i]) return static_cast<T>(i);
      allowed += (i == 0 ? "" : ", ") + std::string(names_of<T>.list[i]);
    }
    wrong(key, value, "a " + std::string(names_of<T>.what) + ": " + allowed);
  }
};

std::string text_field(const Json& json, const char* key, bool required) {
  const auto it = json.find(key);
  if (it == json.end()) {
    if (required) reject(std::string("'") + key + "' is missing");
    return "";
  }
  if (!it->is_string()) Reader::wrong(key, *it, "a string");
  return it->get<std::string>();
}

}  // namespace

std::string to_json(const NamedEngine& engine) {
  Json json = {VERNIER_FIELDS(engine, name, device, instruction, source)};
  for_each_field(engine.engine, Writer{json});
  return json.dump(2);
}

NamedEngine parse_engine(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& e) {
    reject(std::string("not JSON: ") + e.what());
  }
  if (!json.is_object()) reject("expected one JSON object");
  NamedEngine result{text_field(json, "name", true), text_field(json, "device", false),
                     text_field(json, "instruction", false), text_field(json, "source", false), Engine{}};
  for (const char* key : {"a", "b", "c", "k", "sum"})
    if (!json.contains(key)) reject(std::string("'") + key + "' is missing");
  for_each_field(result.engine, Reader{json});
  Json known;
  for_each_field(result.engine, Writer{known});
  for (const auto& [key, value] : json.items())
    if (!known.contains(key) && key != "name" && key != "device" && key != "instruction" && key != "source")
      reject("unknown key '" + key + "'");
  validate(result.engine);
  return result;
}

NamedEngine load_engine(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(Status::invalid_argument, "cannot read the engine description '" + path + "'");
  std::ostringstream text;
  text << file.rdbuf();
  try {
    return parse_engine(text.str());
  } catch (const Error& error) {
    throw Error(error.status(), path + ": " + error.what());
  }
}

std::string ProbeReport::json() const {
  Json json;
  for (const Finding& f : findings) json["findings"].push_back({VERNIER_FIELDS(f, topic, value, evidence)});
  json["tree"] = tree;
  json["engine"] = Json::parse(to_json({"estimate", "", "", "probed", estimate}));
  return json.dump(2);
}

}  // namespace vernier::model
