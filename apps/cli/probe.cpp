// vernier probe: what a matrix engine computes, found from its outputs.
#include "probe.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <vernier/hardware.hpp>
#include <vernier/model.hpp>

#include "input_file.hpp"

namespace vernier::cli {
namespace {

struct ProbeOptions {
  std::string engine, file;
  bool list = false, suite = false, description = false;
};

// What is probed: a model, or hardware beside the model that it should equal.
struct Subject {
  model::NamedEngine named;
  std::unique_ptr<model::MatrixEngine> engine;
  bool hardware = false;
};

Subject find_subject(const ProbeOptions& options) {
  Subject subject;
  if (model::is_hardware_name(options.engine)) {
    subject.engine = model::open_hardware(options.engine);
    subject.hardware = true;
    for (const model::HardwareEngine& e : model::hardware_engines())
      if (e.name == options.engine) subject.named = {e.name, "this machine", e.instruction, e.model, e.engine};
  } else {
    if (!options.file.empty() && !std::filesystem::exists(options.file))
      throw FileError(options.file, "No such file or directory");
    subject.named = options.file.empty() ? model::find_engine(options.engine) : model::load_engine(options.file);
    subject.engine = std::make_unique<model::ModelEngine>(subject.named.engine);
  }
  return subject;
}

int list_engines(const Console& console) {
  if (console.json) {
    Json models = Json::array(), hardware = Json::array();
    for (const model::NamedEngine& e : model::engines()) models.push_back(Json::parse(model::to_json(e)));
    for (const model::HardwareEngine& e : model::hardware_engines())
      hardware.push_back(
          {{"name", e.name}, {"instruction", e.instruction}, {"model", e.model}, {"missing", e.missing}});
    print_json({{"engines", models}, {"hardware", hardware}});
    return exit_ok;
  }
  for (const model::NamedEngine& e : model::engines())
    fmt::print("{:<28} {:<20} {:<24} {}\n", e.name, e.device, e.instruction, e.source);
  fmt::print("\n");
  std::string said;  // a reason that many share is told once
  for (const model::HardwareEngine& e : model::hardware_engines()) {
    fmt::print("{:<28} {:<20} {:<24} {}\n", e.name, e.missing.empty() ? "this machine" : "not here", e.instruction,
               e.missing == said ? "" : e.missing);
    said = e.missing;
  }
  return exit_ok;
}

Json to_json(const std::vector<model::Finding>& findings) {
  Json json = Json::array();
  for (const model::Finding& f : findings)
    json.push_back({{"topic", f.topic}, {"value", f.value}, {"evidence", f.evidence}});
  return json;
}

int run_suite(const Subject& subject, const Console& console) {
  const auto findings = model::published_suite(*subject.engine);
  if (console.json) {
    print_json({{"engine", subject.named.name}, {"findings", to_json(findings)}});
    return exit_ok;
  }
  for (const model::Finding& f : findings) {
    fmt::print("{:<38} {}\n", f.topic, f.value);
    if (!f.evidence.empty()) fmt::print("    {}\n", f.evidence);
  }
  return exit_ok;
}

// What hardware should have answered, and where it did not.
struct Comparison {
  std::string model;
  std::vector<std::string> differences;
};

Comparison compare(const Subject& subject, const model::ProbeReport& report) {
  return {subject.named.source, model::differences(report, model::probe(model::ModelEngine(subject.named.engine)))};
}

void print_comparison(const Comparison& comparison) {
  if (comparison.differences.empty()) return fmt::print("\nAnswers every probe as {} does.\n", comparison.model);
  fmt::print("\nDiffers from {}:\n", comparison.model);
  for (const std::string& line : comparison.differences) fmt::print("  {}\n", line);
}

// The estimate under the engine's own name.
Json description(const Subject& subject, const model::ProbeReport& report) {
  return Json::parse(
      model::to_json({subject.named.name, subject.named.device, subject.named.instruction, "probed", report.estimate}));
}

int run_probe(const ProbeOptions& options, const Console& console) {
  if (options.list) return list_engines(console);
  if (options.engine.empty() == options.file.empty())
    throw UsageError("probe: give one of --engine NAME and --file FILE, or --list");
  const Subject subject = find_subject(options);
  if (options.description && !subject.hardware) {
    fmt::print("{}\n", model::to_json(subject.named));
    return exit_ok;
  }
  if (options.suite) return run_suite(subject, console);
  const model::ProbeReport report = model::probe(*subject.engine);
  if (options.description) {
    print_json(description(subject, report));
  } else if (console.json) {
    Json json{{"engine", subject.named.name}, {"findings", to_json(report.findings)}, {"tree", report.tree}};
    json["estimate"] = description(subject, report);
    if (subject.hardware) {
      const Comparison comparison = compare(subject, report);
      json["compared_with"] = comparison.model;
      json["differences"] = comparison.differences;
    }
    print_json(json);
  } else {
    fmt::print("{} {} {}\n\n{}", console.strong(subject.named.name), subject.named.device, subject.named.instruction,
               report.text());
    if (subject.hardware) print_comparison(compare(subject, report));
  }
  return exit_ok;
}

}  // namespace

void add_probe(CLI::App& program, Console& console, Work& chosen) {
  CLI::App* command = program.add_subcommand("probe", "Find out what a matrix engine computes from its outputs.");
  const auto options = std::make_shared<ProbeOptions>();
  command->add_option("--engine", options->engine, "a modelled engine, or one of this machine (see --list)");
  command->add_option("--file", options->file, "an engine described in a JSON file, as --description prints one");
  command->add_flag("--list", options->list,
                    "list the modelled engines, and those of this machine with what is missing");
  command->add_flag("--suite", options->suite, "the experiments of Fasi et al. (2021) instead");
  command->add_flag("--description", options->description,
                    "print the description as JSON: a model's own, or the one estimated of hardware");
  add_output_flags(*command, console);
  command->footer(
      "Examples:\n  vernier probe --list\n  vernier probe --engine hopper-mma-fp16-fp32\n"
      "  vernier probe --engine volta-fp16-fp32 --suite\n  vernier probe --engine gpu:wgmma-fp16-fp32 --json\n"
      "  vernier probe --engine cpu:amx-bf16 --description\n  vernier probe --file my_engine.json --json");
  command->callback(
      [&console, &chosen, options] { chosen = [&console, options] { return run_probe(*options, console); }; });
}

}  // namespace vernier::cli
