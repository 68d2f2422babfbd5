// Plans of some hundreds of products, as tests/data/plans.txt has them: a change of a planner shows what it changes.
// VERNIER_WRITE_PLANS=FILE writes the lines of this machine; a line whose plan changes on purpose is replaced by it.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/fmt.hpp"
#include "base/status.hpp"
#include "engine/sm90_tiles.hpp"
#include "product/plan/measured_rates.hpp"
#include "residue/plan/plan_cuda.hpp"
#include "support/project_file.hpp"
#include "vernier/vernier.hpp"

namespace vernier::explain_test {
namespace {

using Lines = std::map<std::string, std::string>;  // what is asked, and the plan

const std::vector<ProductShape> shapes = {
    {64, 64, 64},       {1, 1000, 1000},     {300, 200, 100},    {512, 512, 512},    {1000, 1000, 1000},
    {1024, 1024, 1024}, {2048, 2048, 2048},  {4096, 4096, 256},  {4096, 4096, 512},  {64, 8192, 4096},
    {4096, 4096, 4096}, {3000, 3000, 70000}, {100, 100, 300000}, {8192, 8192, 8192}, {16384, 16384, 1024}};

std::string asked(const std::string& machine, const std::string& type, const ProductShape& s,
                  const std::string& contract) {
  return fmt::format("{} | {} | {} x {} x {} | {}", machine, type, s.m, s.n, s.k, contract);
}

std::string told(const Plan& p) {
  return fmt::format("{} {} moduli {} P {:.2f} bound {:.2f} blocks {} {} {} workspace {}; {}", p.scheme,
                     p.scheme == "native" ? "-" : p.engine, p.moduli, p.log2_modulus_product, p.log2_bound, p.m_block,
                     p.n_block, p.k_block, p.workspace, p.reason);
}

template <class Plans>
std::string told_or_error(const Plans& plan) {
  try {
    return told(plan());
  } catch (const Error& e) {
    return fmt::format("error: {}", e.what());
  }
}

template <class T>
std::vector<std::string> contracts() {
  if (std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>) return {"fp32", "fp32+reproducible", "exact"};
  return {"fp64", "fp64+reproducible", "fp64-normwise", "bits(40)", "exact"};
}

template <class T>
void add_host_plans(const std::string& type, const std::string& machine, const std::string& engine, Lines& lines) {
  for (const ProductShape& s : shapes)
    for (const std::string& contract : contracts<T>()) {
      Options options{.contract = Contract::parse(contract), .engine = engine, .threads = 2};
      // The default depends on the machine's memory. That of a complex product is of a real one, copies come on top.
      constexpr std::int64_t parts = sizeof(T) / sizeof(RealType<T>);
      options.workspace_limit = std::max(
          default_workspace_limit, gemm_workspace<RealType<T>>(parts * s.m, s.n, parts * s.k, options, /*least=*/true));
      lines[asked(machine, type, s, contract)] =
          told_or_error([&] { return explain<T>(Op::none, Op::none, s.m, s.n, s.k, options); });
    }
}

Lines host_plans(const std::string& machine, const std::string& engine) {
  Lines lines;
  add_host_plans<float>("float", machine, engine, lines);
  add_host_plans<double>("double", machine, engine, lines);
  add_host_plans<std::complex<double>>("complex double", machine, engine, lines);
  return lines;
}

template <class T>
void add_device_plans(const std::string& type, const std::string& machine, const DeviceRequest& request, Lines& lines) {
  for (const ProductShape& s : shapes)
    for (const std::string& contract : contracts<T>()) {
      DeviceRequest r = request;
      r.contract = Contract::parse(contract);
      r.workspace_limit = std::size_t{8} << 30;
      lines[asked(machine, type, s, contract)] = told_or_error([&] { return plan_device_product<T>(s, r).printable; });
    }
}

Lines device_plans(const std::string& machine, const DeviceRequest& request) {
  Lines lines;
  add_device_plans<float>("float", machine, request, lines);
  add_device_plans<double>("double", machine, request, lines);
  return lines;
}

Lines kept_plans(const std::string& machine) {
  std::ifstream file(test::project_file("tests/data/plans.txt"));
  Lines lines;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(machine + " | ")) {
      const std::size_t arrow = line.find(" -> ");
      lines[line.substr(0, arrow)] = line.substr(arrow + 4);
    }
  return lines;
}

void compare(const std::string& machine, const Lines& plans) {
  if (const char* file = std::getenv("VERNIER_WRITE_PLANS")) {
    std::ofstream out(file, std::ios::app);
    for (const auto& [what, plan] : plans) out << what << " -> " << plan << '\n';
  }
  const Lines kept = kept_plans(machine);
  ASSERT_EQ(kept.size(), plans.size()) << machine;
  for (const auto& [what, plan] : plans) {
    const auto old = kept.find(what);
    ASSERT_NE(old, kept.end()) << what;
    EXPECT_EQ(plan, old->second) << what;
  }
}

// Estimates of the tables, whatever this machine has measured.
class KeptPlans : public testing::Test {
 protected:
  void SetUp() override {
    setenv("VERNIER_RATES", "none", 1);
    forget_rates();
  }
};

TEST_F(KeptPlans, EqualThoseOfThePortableEngine) { compare("portable", host_plans("portable", "portable")); }

TEST_F(KeptPlans, EqualThoseOfHopper) {
  compare("Hopper", device_plans("Hopper", {.int8_engine = "sm90_int8", .may_use_sqrt_rule = true}));
  compare("Hopper, asynchronous",
          device_plans("Hopper, asynchronous", {.int8_engine = "sm90_int8", .asynchronous = true}));
}

TEST_F(KeptPlans, EqualThoseOfOtherGpus) {
  const std::pair<const char*, GpuFacts> gpus[] = {{"A100", {80, 108, 1.41e9, 2.04e12}},
                                                   {"RTX 4090", {89, 128, 2.52e9, 1.01e12}},
                                                   {"B200", {100, 148, 1.96e9, 8.0e12}}};
  for (const auto& [name, facts] : gpus)
    compare(name, device_plans(name, {.gpu = gpu_model(facts), .int8_engine = "mma_int8"}));
}

}  // namespace
}  // namespace vernier::explain_test
