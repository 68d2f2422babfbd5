// vernier probe: what a matrix engine computes, found from its outputs.
#include "probe.hpp"

#include <fmt/format.h>

#include <memory>
#include <vernier/model.hpp>

namespace vernier::cli {
namespace {

struct ProbeOptions {
  std::string engine, file;
  bool list = false, suite = false, description = false;
};

int list_engines(const Console& console) {
  if (console.json) {
    Json names = Json::array();
    for (const model::NamedEngine& e : model::engines()) names.push_back(Json::parse(model::to_json(e)));
    print_json({{"engines", names}});
    return exit_ok;
  }
  for (const model::NamedEngine& e : model::engines())
    fmt::print("{:<28} {:<20} {:<24} {}\n", e.name, e.device, e.instruction, e.source);
  return exit_ok;
}

void print_findings(const std::vector<model::Finding>& findings) {
  for (const model::Finding& f : findings) {
    fmt::print("{:<38} {}\n", f.topic, f.value);
    if (!f.evidence.empty()) fmt::print("    {}\n", f.evidence);
  }
}

int run_suite(const model::NamedEngine& named, const Console& console) {
  const auto findings = model::published_suite(model::ModelEngine(named.engine));
  if (!console.json) {
    print_findings(findings);
    return exit_ok;
  }
  Json json{{"engine", named.name}, {"findings", Json::array()}};
  for (const model::Finding& f : findings)
    json["findings"].push_back({{"topic", f.topic}, {"value", f.value}, {"evidence", f.evidence}});
  print_json(json);
  return exit_ok;
}

int run_probe(const ProbeOptions& options, const Console& console) {
  if (options.list) return list_engines(console);
  if (options.engine.empty() == options.file.empty())
    throw UsageError("probe: give one of --engine NAME and --file FILE, or --list");
  const model::NamedEngine named =
      options.file.empty() ? model::find_engine(options.engine) : model::load_engine(options.file);
  if (options.description) {
    fmt::print("{}\n", model::to_json(named));
    return exit_ok;
  }
  if (options.suite) return run_suite(named, console);
  const model::ProbeReport report = model::probe(model::ModelEngine(named.engine));
  if (console.json) {
    Json json{{"engine", named.name}};
    json.update(Json::parse(report.json()));
    json["estimate"] = json["engine"];
    json["engine"] = named.name;
    print_json(json);
  } else {
    fmt::print("{} {} {}\n\n{}", console.strong(named.name), named.device, named.instruction, report.text());
  }
  return exit_ok;
}

}  // namespace

void add_probe(CLI::App& program, Console& console, Work& chosen) {
  CLI::App* command = program.add_subcommand("probe", "Find out what a matrix engine computes from its outputs.");
  const auto options = std::make_shared<ProbeOptions>();
  command->add_option("--engine", options->engine, "a modelled engine (see --list)");
  command->add_option("--file", options->file, "an engine described in a JSON file");
  command->add_flag("--list", options->list, "list the modelled engines");
  command->add_flag("--suite", options->suite, "the experiments of Fasi et al. (2021) instead");
  command->add_flag("--description", options->description, "print the description itself as JSON");
  add_output_flags(*command, console, false);
  command->footer(
      "Examples:\n  vernier probe --list\n  vernier probe --engine hopper-mma-fp16-fp32\n"
      "  vernier probe --engine volta-fp16-fp32 --suite\n  vernier probe --file my_engine.json --json");
  command->callback(
      [&console, &chosen, options] { chosen = [&console, options] { return run_probe(*options, console); }; });
}

}  // namespace vernier::cli
