// vernier reproduce: the experiments of the papers, computed again.
#include "reproduce.hpp"

#include <fmt/format.h>

#include <memory>

#include "reproduce/run.hpp"

namespace vernier::cli {
namespace {

struct ReproduceArguments {
  reproduce::Settings settings;
  bool list = false;
};

int list_experiments(const ReproduceArguments& arguments, const Console& console) {
  const auto chosen = reproduce::select(arguments.settings.names);
  if (console.json) {
    Json json = Json::array();
    for (const reproduce::Experiment* e : chosen)
      json.push_back({{"name", e->name},
                      {"title", e->title},
                      {"paper", e->paper},
                      {"figure", e->figure},
                      {"needs_gpu", e->needs_gpu}});
    print_json({{"experiments", json}});
    return exit_ok;
  }
  std::string paper;
  for (const reproduce::Experiment* e : chosen) {
    if (e->paper != paper) fmt::print("{}{}\n", paper.empty() ? "" : "\n", console.strong(e->paper));
    paper = e->paper;
    fmt::print("  {:<22} {:<3} {} ({})\n", e->name, e->needs_gpu ? "GPU" : "", e->title, e->figure);
  }
  return exit_ok;
}

int reproduce_papers(const ReproduceArguments& arguments, const Console& console) {
  if (arguments.list) return list_experiments(arguments, console);
  const reproduce::Outcome outcome = reproduce::run(arguments.settings, console);
  if (console.json)
    print_json(reproduce::overview(outcome));
  else
    fmt::print("{}\n", outcome.report);
  bool well = outcome.trouble.empty();
  if (!well) console.error(outcome.trouble);
  for (const Json& record : outcome.records)
    if (record["status"] == "failed") {
      well = false;
      console.error(fmt::format("{}: {}", record["name"].get<std::string>(), record["reason"].get<std::string>()));
    }
  return well ? exit_ok : exit_failed;
}

}  // namespace

void add_reproduce(CLI::App& program, Console& console, Work& chosen) {
  CLI::App* command =
      program.add_subcommand("reproduce", "The figures and tables of the papers, computed again and compared.");
  auto arguments = std::make_shared<ReproduceArguments>();
  command->add_option("NAME", arguments->settings.names, "experiments, as --list names them; all if none is given")
      ->default_str("");
  command->add_option("--out", arguments->settings.out, "folder for data, figures and report.html")
      ->capture_default_str();
  command->add_flag("--quick", arguments->settings.quick, "smaller sizes: a minute in place of ten");
  command->add_option("--seed", arguments->settings.seed, "seed of all random data")
      ->check(unsigned_number())
      ->capture_default_str();
  command->add_flag("--list", arguments->list, "list the experiments");
  add_output_flags(*command, console);
  command->footer(
      "Data that are in the folder already, of the same commit, seed and sizes, are not computed again, so that a run\n"
      "that was interrupted goes on where it stopped. Experiments that need a GPU are marked \"not run\" where there "
      "is\n"
      "none. Figures need python3 with matplotlib; data and report are written without them too.\n\n"
      "Examples:\n  vernier reproduce --list\n  vernier reproduce --quick --out quick\n"
      "  vernier reproduce accuracy significand\n  vernier reproduce --json | jq '.experiments[] | {name, agrees}'");
  command->callback([arguments, &console, &chosen] {
    chosen = [arguments, &console] { return reproduce_papers(*arguments, console); };
  });
}

}  // namespace vernier::cli
