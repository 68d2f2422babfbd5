// vernier probe from outside: the list, reports on models and on hardware, refusals.
#include <nlohmann/json.hpp>
#include <vernier/hardware.hpp>

#include "program.hpp"

namespace vernier::cli::program_probe_test {
namespace {

using namespace vernier::cli::testing;
using Json = nlohmann::json;

constexpr const char* no_gpu = "CUDA_VISIBLE_DEVICES=";  // hides a GPU that is there

TEST_F(Program, ProbeListsModelsAndHardware) {
  const Outcome text = run("probe --list", no_gpu);
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  const std::size_t reason = text.out.find("no CUDA device");
  EXPECT_NE(reason, std::string::npos);
  EXPECT_EQ(text.out.find("no CUDA device", reason + 1), std::string::npos) << "the reason of all GPU engines, once";
  EXPECT_EQ(text.out.find("insufficient"), std::string::npos);
  const Json json = Json::parse(run("probe --list --json", no_gpu).out);
  EXPECT_EQ(json["engines"].size(), model::engines().size());
  EXPECT_EQ(json["hardware"].size(), model::hardware_engines().size());
  for (const char* kind : {"engines", "hardware"})
    for (const Json& row : json[kind]) EXPECT_NE(text.out.find(row["name"].get<std::string>()), std::string::npos);
  for (const Json& row : json["hardware"])
    if (!row["name"].get<std::string>().starts_with("cpu:")) {
      EXPECT_NE(row["missing"].get<std::string>().find("no CUDA device"), std::string::npos) << row;
    }
}

TEST_F(Program, ProbeRefusesWrongUsageWith2) {
  refuses(2, "probe", "give one of --engine NAME and --file FILE");
  refuses(2, "probe --engine volta-fp16-fp32 --file E.json", "give one of");
  refuses(2, "probe --engine volta-int4", "volta-fp16-fp32");
  refuses(2, "probe --engine gpu:abacus", "no hardware engine is called 'gpu:abacus'");
  refuses(2, "probe --engine cublas:abacus --json", "cublas:abacus");
  refuses(1, "probe --file absent.json", "absent.json: No such file");
  folder.write("broken.json", R"({"name": "x", )");
  refuses(2, "probe --file broken.json", "broken.json: engine description: not JSON");
  folder.write("list.json", "[]");
  refuses(2, "probe --file list.json --json", "expected one JSON object");
  const std::string good = R"("name": "x", "a": "fp16", "b": "fp16", "c": "fp32", "k": 16, "sum": "block")";
  folder.write("bits.json", "{" + good + R"(, "fraction_bits": 90})");
  refuses(2, "probe --file bits.json", "fraction_bits is 90; expected 1 to");
  folder.write("name.json", "{" + good + R"(, "rounding": "sideways"})");
  refuses(2, "probe --file name.json --suite", "expected a rounding");
  folder.write("key.json", "{" + good + R"(, "colour": 1})");
  refuses(2, "probe --file key.json --description", "unknown key 'colour'");
}

TEST_F(Program, ProbeSaysWhatIsMissingAndModelsStillWork) {
  for (const char* name : {"gpu:wgmma-fp16-fp32", "gpu:mma-fp64-k4", "cublas:int8"}) {
    const Outcome outcome = run(std::string("probe --engine ") + name, no_gpu);
    EXPECT_EQ(outcome.code, 1) << name;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("no CUDA device"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
  }
  const Json report = Json::parse(run("probe --engine hopper-wgmma-fp16-fp32 --json", no_gpu).out);
  EXPECT_EQ(report["engine"], "hopper-wgmma-fp16-fp32");
  EXPECT_EQ(report["estimate"]["fraction_bits"], 25);
  EXPECT_EQ(report["estimate"]["block"], 16);
  EXPECT_FALSE(report.contains("differences"));
}

TEST_F(Program, ProbeReportsFindingsWithTheirInputs) {
  const Outcome text = run("probe --engine volta-fp16-fp32");
  EXPECT_EQ(text.code, 0);
  for (const char* part : {"volta-fp16-fp32", "accumulation tree", "(c 0 1 2 3)", "alignment rounding", "toward zero"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part;
  const Json json = Json::parse(run("probe --engine volta-fp16-fp32 --json").out);
  for (const Json& finding : json["findings"]) EXPECT_TRUE(finding.contains("evidence")) << finding;
  EXPECT_NE(run("probe --engine volta-fp16-fp32 --suite").out.find("two carry bits"), std::string::npos);
}

// What --description prints is what --file reads.
TEST_F(Program, ProbeTakesADescriptionBack) {
  const Outcome description = run("probe --engine hopper-mma-e4m3-fp32 --description");
  ASSERT_EQ(description.code, 0);
  folder.write("engine.json", description.out);
  EXPECT_EQ(run("probe --file engine.json --json").out, run("probe --engine hopper-mma-e4m3-fp32 --json").out);
}

TEST_F(Program, ProbeComparesHardwareWithItsModel) {
  for (const model::HardwareEngine& e : model::hardware_engines()) {
    if (!e.missing.empty() || !e.name.starts_with("cpu:")) continue;
    const Json json = Json::parse(run("probe --engine " + e.name + " --json").out);
    EXPECT_EQ(json["compared_with"], e.model);
    EXPECT_EQ(json["differences"], Json::array()) << e.name;
    EXPECT_NE(run("probe --engine " + e.name).out.find("Answers every probe as " + e.model + " does."),
              std::string::npos);
    const Json estimate = Json::parse(run("probe --engine " + e.name + " --description").out);
    EXPECT_EQ(estimate, json["estimate"]);
  }
}

}  // namespace
}  // namespace vernier::cli::program_probe_test
