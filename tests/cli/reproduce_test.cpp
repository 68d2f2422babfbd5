// vernier reproduce: what the experiments find, against the numbers that the papers state, and how the command behaves.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "program.hpp"
#include "reproduce/run.hpp"
#include "vernier/vernier.hpp"

namespace vernier::cli::reproduce_test {
namespace {

using namespace vernier::cli::testing;
using reproduce::Experiment;
using Json = nlohmann::ordered_json;

Json result_of(const std::string& name, std::uint64_t seed = 1) {
  return to_json(reproduce::select({name}).at(0)->run({.quick = true, .seed = seed}));
}

const Json& check_of(const Json& result, const std::string& claim) {
  for (const Json& check : result["checks"])
    if (check["claim"].get<std::string>().find(claim) != std::string::npos) return check;
  throw std::out_of_range("no check: " + claim);
}

// The paper's number, ours, and how far apart they are.
double distance(const Json& result, const std::string& claim, double paper) {
  const Json& check = check_of(result, claim);
  EXPECT_DOUBLE_EQ(std::stod(check["paper"].get<std::string>()), paper) << claim;
  return std::abs(std::stod(check["here"].get<std::string>()) - paper);
}

// Those whose verdict does not hang on the speed of a machine that tests share; and those that need a GPU are marked.
class Agreement : public ::testing::TestWithParam<const char*> {};

TEST_P(Agreement, WithThePaper) {
  for (const std::uint64_t seed : {1, 2}) {
    const Json result = result_of(GetParam(), seed);
    EXPECT_FALSE(result["checks"].empty());
    EXPECT_FALSE(result["rows"].empty());
    for (const Json& check : result["checks"])
      EXPECT_TRUE(check["agrees"].get<bool>()) << "seed " << seed << ": " << check.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(Papers, Agreement,
                         ::testing::Values("accuracy", "cleared-bit", "rounding", "significand", "underflow",
                                           "representation", "input-types", "lo-lo", "dp-accuracy", "sp-accuracy",
                                           "reproducibility", "fma-bounds", "fma-products", "fma-lu", "lu-storage",
                                           "refinement", "features", "monotonicity", "residues", "spans", "same-bits"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Reproduce, TwoPartsKeep22And3QuarterBits) {
  const Json result = result_of("significand");
  EXPECT_LE(distance(result, "two fp16 parts", 22.75), 0.01);
  EXPECT_LE(distance(result, "tf32 parts", 22.75), 0.01);
  EXPECT_LE(distance(result, "last bit is cleared", 22.5), 0.01);
}

TEST(Reproduce, CrossingAndPlateausAreWhereTheAnalysisPutsThem) {
  const Json accuracy = result_of("accuracy");
  EXPECT_LE(distance(accuracy, "plateau of the uncorrected", 2.610e-4), 0.2 * 2.610e-4);
  EXPECT_LE(distance(accuracy, "crossing", 14.79), 0.2 * 14.79);
  const Json representation = result_of("representation");
  EXPECT_LE(distance(representation, "plateau of halfhalf", 3.615e-8), 0.2 * 3.615e-8);
  EXPECT_LE(distance(representation, "plateau of fp16", 1.692e-4), 0.2 * 1.692e-4);
}

// One seed: the products of k = 10240 are the longest of the quick experiments.
TEST(Reproduce, SlicesAndProductsAreThePapersOrASliceFewer) {
  const Json result = result_of("slices");
  EXPECT_EQ(result["checks"].size(), 5);
  for (const Json& check : result["checks"]) EXPECT_TRUE(check["agrees"].get<bool>()) << check.dump();
}

TEST(Reproduce, UnderflowIsAsLikelyAsEquation11Says) {
  EXPECT_LE(distance(result_of("underflow"), "P_u+gu(-2)", 0.25), 0.05 * 0.25);
}

// A check has to be able to fail: the same claim of another number does.
TEST(Reproduce, ChecksCanFail) {
  reproduce::Result result;
  result.within("length", 22.75, 22.765, 0.01);
  result.within("length", 22.75, 22.755, 0.01);
  result.near("plateau", 1e-4, 1.25e-4, 0.2);
  result.near("plateau", 1e-4, 1.15e-4, 0.2);
  EXPECT_FALSE(result.checks[0].agrees);
  EXPECT_TRUE(result.checks[1].agrees);
  EXPECT_FALSE(result.checks[2].agrees);
  EXPECT_TRUE(result.checks[3].agrees);
  EXPECT_FALSE(reproduce::agrees(to_json(result)));
}

TEST(Reproduce, NamesAreUniqueAndUnknownOnesAreErrors) {
  std::set<std::string> names;
  for (const Experiment& e : reproduce::experiments()) {
    EXPECT_TRUE(names.insert(e.name).second) << e.name;
    EXPECT_FALSE(e.title.empty() || e.paper.empty() || e.figure.empty() || e.found.empty()) << e.name;
  }
  EXPECT_THROW(reproduce::select({"accuracy", "abacus"}), vernier::Error);
}

TEST(Reproduce, CsvQuotesWhatItHasTo) {
  EXPECT_EQ(reproduce::csv(Json::array({"a", "b, c"}),
                           Json::array({Json::array({1, "x \"y\""}), Json::array({0.5, nullptr})})),
            "a,\"b, c\"\n1,\"x \"\"y\"\"\"\n0.5,null\n");
}

TEST(Reproduce, TheReportEscapesTextAndStandsAlone) {
  TemporaryFolder folder;
  Json record = {{"name", "n"},          {"title", "<b>"},      {"paper", "p"},          {"figure", "f"},
                 {"found", "a < b & c"}, {"status", "not run"}, {"reason", "no \"GPU\""}};
  const std::string page = reproduce::html_report(Json::array({record}), folder / "");
  EXPECT_EQ(page.find("<b>\n"), std::string::npos);
  EXPECT_NE(page.find("&lt;b&gt;"), std::string::npos);
  EXPECT_NE(page.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_NE(page.find("not run"), std::string::npos);
  EXPECT_NE(page.find("no &quot;GPU&quot;"), std::string::npos);
  for (const char* outside : {"http://", "https://", "<script", "src=\"/", "<link"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
}

Json json_of(const Outcome& outcome) { return Json::parse(outcome.out); }

TEST_F(Program, ReproduceListsItsExperiments) {
  const Outcome text = run("reproduce --list");
  EXPECT_EQ(text.code, 0) << text.err;
  const Json list = json_of(run("reproduce --list --json"))["experiments"];
  EXPECT_EQ(list.size(), reproduce::experiments().size());
  for (const Json& e : list) EXPECT_NE(text.out.find(e["name"].get<std::string>()), std::string::npos) << e;
  EXPECT_FALSE(std::filesystem::exists(folder / "reproduce"));
}

TEST_F(Program, ReproduceRefusesWrongUsage) {
  refuses(2, "reproduce abacus", "unknown experiment \"abacus\"");
  refuses(2, "reproduce --seed x", "--seed");
  folder.write("file", "");
  refuses(1, "reproduce significand --quick --out file", "file");
}

TEST_F(Program, ReproduceWritesDataFiguresAndReport) {
  const Outcome outcome = run("reproduce cleared-bit significand --quick --out r --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json all = json_of(outcome);
  EXPECT_EQ(all["report"], "r/selection.html");
  ASSERT_EQ(all["experiments"].size(), 2u);
  for (const Json& e : all["experiments"]) {
    EXPECT_EQ(e["status"], "done");
    EXPECT_EQ(e["agrees"], true);
    EXPECT_EQ(e["reused"], false);
    for (const char* key : {"machine", "commit", "seed", "version", "date", "quick"})
      EXPECT_TRUE(e.contains(key)) << key;
    const Json record = Json::parse(contents(folder / "r/data/" + e["name"].get<std::string>() + ".json"));
    EXPECT_EQ(reproduce::csv(record["result"]["columns"], record["result"]["rows"]),
              contents(folder / "r/data/" + e["name"].get<std::string>() + ".csv"));
  }
  EXPECT_NE(contents(folder / "r/figures/cleared-bit.svg").find("</svg>"), std::string::npos);
  EXPECT_EQ(contents(folder / "r/figures/cleared-bit.png").substr(1, 3), "PNG");
  const std::string page = contents(folder / "r/selection.html");
  EXPECT_NE(page.find("10.7717/peerj-cs.330"), std::string::npos);
  EXPECT_NE(page.find("data:image/svg+xml;base64,"), std::string::npos);
  EXPECT_NE(page.find("22.75"), std::string::npos);
}

TEST_F(Program, ReproduceOfOneExperimentLeavesTheReportOfAll) {
  std::filesystem::create_directory(folder / "r");
  folder.write("r/report.html", "all");
  folder.write("r/summary.json", "{}");
  const Outcome outcome = run("reproduce significand --quick --out r");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(contents(folder / "r/report.html"), "all");
  EXPECT_EQ(contents(folder / "r/summary.json"), "{}");
  EXPECT_NE(contents(folder / "r/significand.html").find("significand"), std::string::npos);
}

TEST_F(Program, ReproduceGoesOnWhereItStopped) {
  const auto reused = [&](const std::string& arguments) {
    const Outcome outcome = run("reproduce significand --quick --out r --json " + arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json_of(outcome)["experiments"][0]["reused"].get<bool>();
  };
  EXPECT_FALSE(reused(""));
  EXPECT_TRUE(reused(""));
  EXPECT_FALSE(reused("--seed 2"));
  EXPECT_TRUE(reused("--seed 2"));
  folder.write("r/data/significand.json", "{ broken");
  EXPECT_FALSE(reused("--seed 2"));
  Json record = Json::parse(contents(folder / "r/data/significand.json"));
  record["commit"] = "another";
  folder.write("r/data/significand.json", record.dump());
  EXPECT_FALSE(reused("--seed 2"));
}

TEST_F(Program, ReproduceWithoutMatplotlibKeepsTheDataAndSaysSo) {
  const Outcome outcome = run("reproduce cleared-bit --quick --out r", "VERNIER_PYTHON=/nonexistent");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("python3-matplotlib"), std::string::npos) << outcome.err;
  EXPECT_NE(contents(folder / "r/data/cleared-bit.csv").find("fp32"), std::string::npos);
  EXPECT_NE(contents(folder / "r/cleared-bit.html").find("was not drawn"), std::string::npos);
}

}  // namespace
}  // namespace vernier::cli::reproduce_test
