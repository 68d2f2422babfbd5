// Descriptions: the table against its golden copy, JSON both ways, clear refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/spec.hpp"
#include "support/project_file.hpp"
#include "vernier/vernier.hpp"

namespace vernier::model::test::spec_test {
namespace {

nlohmann::ordered_json load_data(const char* name) {
  std::ifstream file(vernier::test::project_file("tests/data/" + std::string(name)));
  return nlohmann::ordered_json::parse(file);
}

void expect_vectors(const nlohmann::ordered_json& vectors) {
  const auto word = [](const nlohmann::ordered_json& x) { return std::stoull(x.get<std::string>(), nullptr, 16); };
  for (const auto& v : vectors) {
    const Engine& e = find_engine(v["engine"].get<std::string>()).engine;
    std::vector<std::uint64_t> a(static_cast<std::size_t>(e.k), 0), b = a;
    for (const auto& t : v["terms"]) {
      a[t[0].get<std::size_t>()] = word(t[1]);
      b[t[0].get<std::size_t>()] = word(t[2]);
    }
    EXPECT_EQ(dot(e, a.data(), b.data(), word(v["c"])), word(v["d"])) << v["engine"] << ": " << v["what"];
  }
}

std::string complaint(const std::string& json) {
  try {
    parse_engine(json);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(EngineTable, EqualsTheGoldenDescriptions) {
  const auto golden = load_data("engines.json");
  ASSERT_EQ(golden.size(), engines().size());
  for (std::size_t i = 0; i < golden.size(); ++i)
    EXPECT_EQ(golden[i], nlohmann::ordered_json::parse(to_json(engines()[i]))) << engines()[i].name;
}

TEST(EngineTable, AnswersTheGoldenVectors) {
  const auto vectors = load_data("engine_vectors.json");
  ASSERT_GT(vectors.size(), 20u);
  expect_vectors(vectors);
}

// What the silicon answered: the open questions, and every case that an earlier model got wrong.
TEST(EngineTable, AnswersAsTheHardwareDid) {
  const auto golden = load_data("h200_vectors.json");
  ASSERT_EQ(golden["device"], "NVIDIA H200");
  ASSERT_GT(golden["vectors"].size(), 100u);
  expect_vectors(golden["vectors"]);
}

// mma.sync fp8 to fp16, and the vectors that decide the floor of zeros under fp16 results.
TEST(EngineTable, AnswersAsAnH100Did) {
  const auto golden = load_data("h100_vectors.json");
  ASSERT_GE(golden["vectors"].size(), 50u);
  expect_vectors(golden["vectors"]);
}

// Every NaN that an earlier model got wrong on a processor with AMX.
TEST(EngineTable, AnswersAsTheProcessorDid) {
  const auto golden = load_data("emerald_rapids_vectors.json");
  ASSERT_GE(golden["vectors"].size(), 30u);
  expect_vectors(golden["vectors"]);
}

TEST(EngineTable, NamesAreDistinctAndRowsValid) {
  std::vector<std::string> names;
  for (const NamedEngine& e : engines()) {
    EXPECT_NO_THROW(validate(e.engine)) << e.name;
    names.push_back(e.name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(EngineJson, SurvivesARoundTrip) {
  for (const NamedEngine& e : engines()) {
    const NamedEngine back = parse_engine(to_json(e));
    EXPECT_EQ(back.engine, e.engine) << e.name;
    EXPECT_EQ(back.name, e.name);
  }
}

TEST(EngineJson, RefusesWithTheFieldItsValueAndWhatWasExpected) {
  const std::string good = R"({"name":"x","a":"fp16","b":"fp16","c":"fp32","k":16,"sum":"block","block":16)";
  EXPECT_EQ(complaint(good + "}"), "");
  EXPECT_NE(complaint("{").find("not JSON"), std::string::npos);
  EXPECT_NE(complaint("[]").find("expected one JSON object"), std::string::npos);
  EXPECT_NE(complaint(R"({"name":"x"})").find("'a' is missing"), std::string::npos);
  EXPECT_NE(complaint(good + R"(,"fractionbits":3})").find("unknown key 'fractionbits'"), std::string::npos);
  EXPECT_NE(complaint(good + R"(,"fraction_bits":90})").find("fraction_bits is 90; expected 1 to"), std::string::npos);
  EXPECT_NE(complaint(good + R"(,"fraction_bits":"many"})").find("'fraction_bits' is \"many\"; expected an integer"),
            std::string::npos);
  EXPECT_NE(complaint(good + R"(,"rounding":"sideways"})").find("expected a rounding: nearest even"),
            std::string::npos);
  EXPECT_NE(complaint(good + R"(,"overflow":"wrap"})").find("overflow is wrap; expected infinity or largest"),
            std::string::npos);
  EXPECT_NE(complaint(good + R"(,"interleave":3})").find("interleave is 3"), std::string::npos);
  EXPECT_NE(complaint(good + R"(,"nan":5})").find("expected a NaN of fp32"), std::string::npos);
  EXPECT_NE(complaint(R"({"name":"x","a":"int8","b":"fp16","c":"fp32","k":16,"sum":"block"})").find("sum is block"),
            std::string::npos);
  EXPECT_THROW(load_engine("/nonexistent/engine.json"), Error);
}

TEST(EngineTable, UnknownNamesGetTheNearestOnes) {
  try {
    find_engine("volta-int4");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("volta-fp16-fp32"), std::string::npos);
  }
}

TEST(Encoding, DecodesWhatItEncodes) {
  for (int f = 0; f < 10; ++f) {
    const auto format = static_cast<Format>(f);
    const int bits = std::min(shape_of(format).bits(), 16), rest = shape_of(format).bits() - bits;
    for (std::uint64_t code = 0; code < std::uint64_t{1} << bits; ++code) {
      const std::uint64_t word = code << rest << shape_of(format).ignored_bits;
      const double x = decode(format, word);
      EXPECT_EQ(x == x ? encode(format, x) : word, word) << to_string(format) << " " << code;
    }
  }
}

}  // namespace
}  // namespace vernier::model::test::spec_test
