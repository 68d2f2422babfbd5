// Fasi, Higham, Mikaitis and Pranesh (2021): what the tensor cores of V100, T4 and A100 compute.
#include "reproduce/fasi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "reproduce/gpu.hpp"

namespace vernier::reproduce {
namespace fasi {
namespace {

// The conclusions of the paper for engines with binary32 results; those of the fp64 ones; and those with binary16
// results, as far as it looks at them.
const std::map<std::string, std::string>& expected_of(const model::MatrixEngine& engine) {
  using Answers = std::map<std::string, std::string>;
  static const Answers single = {{"subnormal inputs", "supported"},
                                 {"subnormal c", "supported"},
                                 {"subnormal results", "supported"},
                                 {"products", "exact"},
                                 {"additions start with the largest", "yes"},
                                 {"rounding of the additions", "toward zero"},
                                 {"guard digits", "none"},
                                 {"normalisation in addition", "only at the end"},
                                 {"normalisation in subtraction", "only at the end"},
                                 {"two carry bits", "yes"},
                                 {"third carry bit", "no overflow"},
                                 {"rounding of the final normalisation", "toward zero"},
                                 {"monotonic", "no"}};
  static const Answers half = {{"subnormal inputs", "supported"},
                               {"subnormal c", "supported"},
                               {"subnormal results", "supported"},
                               {"products under 16-bit results", "exact"},
                               {"rounding to 16 bits", "nearest"}};
  static const Answers twice = {
      {"subnormal inputs", "supported"},        {"subnormal c", "supported"},
      {"subnormal results", "supported"},       {"additions start with the largest", "no"},
      {"rounding of the additions", "nearest"}, {"normalisation in addition", "after each addition"},
      {"two carry bits", "not needed"},         {"monotonic", "no violation found"}};
  return engine.c() == model::Format::fp16 ? half : engine.c() == model::Format::fp64 ? twice : single;
}

}  // namespace

void feature_table(const std::vector<Subject>& subjects, Result& result, const std::function<void(double)>& progress) {
  result.show_table = true;
  result.table.columns = {"feature"};
  std::vector<std::string> topics = {"bits below fp32's last (F - 23)"};
  std::vector<std::map<std::string, std::string>> found;
  double done = 0;
  for (const Subject& s : subjects) {
    result.table.columns.push_back(s.name);
    std::map<std::string, std::string> answers;
    for (const model::Finding& f : model::published_suite(*s.engine)) {
      answers[f.topic] = f.value;
      if (std::find(topics.begin(), topics.end(), f.topic) == topics.end()) topics.push_back(f.topic);
    }
    const model::Engine estimate = model::probe(*s.engine).estimate;
    const bool single = estimate.c == model::Format::fp32 && estimate.sum == model::Sum::block;
    answers[topics[0]] = single ? fmt::format("{}", estimate.fraction_bits - 23) : "-";
    std::string wrong;
    const auto& expected = expected_of(*s.engine);
    for (const auto& [topic, value] : expected)
      if (answers[topic] != value) wrong += fmt::format("{}{}: {}", wrong.empty() ? "" : "; ", topic, answers[topic]);
    const bool bits = s.fraction_bits == 0 || estimate.fraction_bits == s.fraction_bits;
    if (!bits) wrong += fmt::format("{}F = {}", wrong.empty() ? "" : "; ", estimate.fraction_bits);
    result.check(fmt::format("{}: all features", s.name),
                 s.fraction_bits > 0 ? fmt::format("{} features, F = {}", expected.size(), s.fraction_bits)
                                     : fmt::format("{} features", expected.size()),
                 wrong.empty() ? "the same" : wrong, "every one", wrong.empty());
    found.push_back(std::move(answers));
    progress(++done / static_cast<double>(subjects.size()));
  }
  for (const std::string& topic : topics) {
    std::vector<Json> row = {topic};
    for (const auto& answers : found) row.emplace_back(answers.contains(topic) ? answers.at(topic) : "-");
    result.table.add(row);
  }
}

namespace {

Result features(const Context& context) {
  const std::tuple<const char*, const char*, int> rows[] = {{"V100 fp16 to fp32", "volta-fp16-fp32", 23},
                                                            {"V100 fp16 to fp16", "volta-fp16-fp16", 0},
                                                            {"T4 fp16 to fp32", "turing-fp16-fp32", 24},
                                                            {"T4 fp16 to fp16", "turing-fp16-fp16", 0},
                                                            {"A100 fp16 to fp32", "ampere-fp16-fp32", 24},
                                                            {"A100 bf16 to fp32", "ampere-bf16-fp32", 24},
                                                            {"A100 tf32 to fp32", "ampere-tf32-fp32", 24},
                                                            {"A100 fp16 to fp16", "ampere-fp16-fp16", 0},
                                                            {"A100 fp64", "ampere-fp64", 0}};
  std::vector<std::unique_ptr<model::ModelEngine>> engines;
  std::vector<Subject> subjects;
  for (const auto& [name, engine, bits] : rows) {
    engines.push_back(std::make_unique<model::ModelEngine>(model::find_engine(engine).engine));
    subjects.push_back({name, engines.back().get(), bits});
  }
  Result result;
  feature_table(subjects, result, context.progress);
  result.here =
      "The paper's experiments, put to the models of these engines: every conclusion comes out, V100 without and T4 "
      "and A100 with one bit more below fp32's last, "
      "fp64 as IEEE arithmetic. What an H200 answers is an experiment of its own.";
  const bool all = std::all_of(result.checks.begin(), result.checks.end(), [](const Check& c) { return c.agrees; });
  if (!all)
    result.here = "The paper's experiments, put to the models of these engines: some answers differ, see below.";
  return result;
}

// d = c + L t with t = 2^-(F + 1), in exact arithmetic c + 2^-22, as c passes 1.
Result monotonicity(const Context& context) {
  struct Card {
    const char *name, *engine;
  };
  const Card cards[] = {
      {"V100", "volta-fp16-fp32"}, {"T4, A100", "ampere-fp16-fp32"}, {"H200", "hopper-wgmma-fp16-fp32"}};
  Result result;
  result.table.columns = {"card", "(c - 1) / 2^-24", "(d - 1) / 2^-24"};
  Panel panel{"", {"$(c - 1)\\,/\\,2^{-24}$", Scale::linear, {}}, {"$(d - 1)\\,/\\,2^{-24}$", Scale::linear, {}}, {}};
  Series exact{"exact sum", {}, {}, Mark::dashed, 5};
  int falls = 0;
  std::map<std::string, double> at;  // of the V100
  for (const Card& card : cards) {
    const model::Engine& e = model::find_engine(card.engine).engine;
    const double t = std::ldexp(1.0, -e.fraction_bits - 1);
    const auto k = static_cast<std::size_t>(e.k);
    std::vector<std::uint64_t> a(k, 0), b(k, 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(e.block); ++i) {
      a[i] = model::encode(e.a, 0x1p-12);
      b[i] = model::encode(e.b, t * 0x1p12);
    }
    Series series{card.name, {}, {}};
    bool fell = false;
    for (int step = -12; step <= 12; ++step) {
      const double c = 1 + (step < 0 ? step : step - step % 2) * 0x1p-24;  // of fp32's numbers above 1, every one
      if (!series.x.empty() && (c - 1) * 0x1p24 == series.x.back()) continue;
      const double d = model::decode(e.c, model::dot(e, a.data(), b.data(), model::encode(e.c, c)));
      fell = fell || (!series.y.empty() && (d - 1) * 0x1p24 < series.y.back());
      series.add((c - 1) * 0x1p24, (d - 1) * 0x1p24);
      result.table.add({card.name, series.x.back(), series.y.back()});
      if (card.name == cards[0].name) {
        exact.add(series.x.back(), series.x.back() + 4);
        if (step == -1) at["below"] = d;
        if (step == 0) at["one"] = d;
      }
    }
    falls += fell;
    panel.series.push_back(series);
    context.progress(static_cast<double>(panel.series.size()) / 3);
  }
  panel.series.push_back(exact);
  result.panels = {panel};
  result.within("V100: c = 1 - 2^-24 and four products 2^-24 give 1 + 2^-23; in units of 2^-23 above 1", 1,
                (at["below"] - 1) * 0x1p23, 0);
  result.within("V100: the larger c = 1 gives 1", 0, (at["one"] - 1) * 0x1p23, 0);
  result.check("sums are not monotonic on any of the cards", "non-monotonic",
               fmt::format("d falls as c grows on {} of 3", falls), "all", falls == 3);
  result.here =
      "c passes 1 from below, and a block's products, equal and just below what the accumulator keeps beside 1, are "
      "added. Below 1 they count and carry the sum "
      "above 1; from 1 on all are cut off, and the result falls. In these units the lines of the three generations are "
      "one.";
  return result;
}

}  // namespace
}  // namespace fasi

void add_fasi(std::vector<Experiment>& list) {
  const auto add = [&list](const char* name, const char* title, const char* figure, const char* found,
                           Result (*run)(const Context&), bool needs_gpu = false) {
    list.push_back({name, title, "Fasi, Higham, Mikaitis, Pranesh (2021)", figure, found, needs_gpu, run});
  };
  add("features", "Features of the tensor cores", "sections 3.1 to 3.3",
      "Products are exact, additions are rounded toward zero and start with the largest term, partial sums are not "
      "normalised, there are at "
      "least two carry bits and no guard digits, subnormal numbers are supported; T4 and A100 keep one bit more than "
      "V100. fp64 tensor cores "
      "behave as IEEE arithmetic.",
      fasi::features);
  add("monotonicity", "A sum that is not monotonic", "section 3.1.5",
      "With c = 1 - 2^-24 and four products 2^-24 the result is 1 + 2^-23; with the larger c = 1 it is 1.",
      fasi::monotonicity);
  add("gpu-features", "Features of the GPU at hand", "sections 3.1 to 3.3",
      "The paper asks V100, T4 and A100. Here its questions go to the GPU at hand, whose accumulator should keep two "
      "bits below fp32's "
      "last if it is a Hopper (F = 25).",
      gpu::features, true);
}

}  // namespace vernier::reproduce
