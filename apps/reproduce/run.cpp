#include "reproduce/run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <vernier/cuda.hpp>

#include "native.hpp"
#include "output_file.hpp"

namespace vernier::reproduce {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

void write_file(const fs::path& path, const std::string& text) {
  cli::OutputFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw std::runtime_error(fmt::format("{}: cannot make this folder: {}", path.string(), error.message()));
}

// The GPU's name, or why there is none.
struct Gpu {
  std::string name, missing;
};
Gpu find_gpu() {
  try {
    return {cuda::device_name(), ""};
  } catch (const Error& error) {
    return {"", error.what()};
  }
}

Json describe_machine(const Gpu& gpu) {
  return {{"cpu", cli::cpu_model()},
          {"threads", omp_get_max_threads()},
          {"gpu", gpu.name.empty() ? Json() : Json(gpu.name)},
          {"blas", native_blas()}};
}

Json heading(const Experiment& e) {
  return {{"name", e.name}, {"title", e.title}, {"paper", e.paper}, {"figure", e.figure}, {"found", e.found}};
}

// Data of an earlier run that this one would repeat.
bool reusable(const Json& record, const Settings& settings) {
  return record.value("status", "") == "done" && record.value("commit", "") == commit() &&
         record.value("version", "") == version() && record.value("quick", !settings.quick) == settings.quick &&
         record.value("seed", settings.seed + 1) == settings.seed && record.contains("result");
}

Json read_record(const fs::path& path) {
  std::ifstream file(path);
  return file ? Json::parse(file, nullptr, false) : Json();
}

class Run {
 public:
  Run(const Settings& settings, const cli::Console& console)
      : settings_(settings), console_(console), gpu_(find_gpu()), data_(fs::path(settings.out) / "data") {
    make_folder(data_);
    make_folder(fs::path(settings.out) / "figures");
  }

  Json one(const Experiment& experiment, const std::string& label) const {
    const fs::path file = data_ / (experiment.name + ".json");
    Json old = read_record(file);
    if (old.is_object() && reusable(old, settings_)) {
      old.update(heading(experiment));
      old["reused"] = true;
      say(old);
      return old;
    }
    Json record = compute(experiment, label);
    write_file(file, record.dump(1) + "\n");
    if (record["status"] == "done") {
      const Json& result = record["result"];
      write_file(data_ / (experiment.name + ".csv"), csv(result["columns"], result["rows"]));
    }
    say(record);
    return record;
  }

 private:
  Json compute(const Experiment& experiment, const std::string& label) const {
    Json record = heading(experiment);
    record["status"] = "done";
    record["reused"] = false;
    record["quick"] = settings_.quick;
    record["seed"] = settings_.seed;
    record["version"] = version();
    record["commit"] = commit();
    record["date"] = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
    record["machine"] = describe_machine(gpu_);
    if (experiment.needs_gpu && gpu_.name.empty()) {
      record["status"] = "not run";
      record["reason"] = gpu_.missing;
      return record;
    }
    const auto start = Clock::now();
    try {
      cli::Progress progress(console_, label);
      Context context{settings_.quick, settings_.seed};
      context.progress = [&progress](double fraction) { progress.update(fraction); };
      const Result result = experiment.run(context);
      record["result"] = to_json(result);
      record["agrees"] = agrees(record["result"]);
    } catch (const std::exception& error) {
      record["status"] = "failed";
      record["reason"] = error.what();
    }
    record["seconds"] = std::chrono::duration<double>(Clock::now() - start).count();
    return record;
  }

  void say(const Json& record) const {
    const std::string name = record["name"], status = record["status"];
    if (status != "done") {
      const std::string reason = record["reason"];
      const bool again = reason == told_;  // the same of every experiment on a GPU
      told_ = reason;
      return console_.note(fmt::format("{:<22} {}{}", name, status, again ? ", for the same reason" : ": " + reason));
    }
    const std::string how =
        record["reused"].get<bool>() ? "data were there" : fmt::format("{:.1f} s", record["seconds"].get<double>());
    console_.note(fmt::format("{:<22} {}, {}", name, record["agrees"].get<bool>() ? "agrees" : "differs", how));
    if (record["agrees"].get<bool>()) return;
    for (const Json& check : record["result"]["checks"])
      if (!check["agrees"].get<bool>())
        console_.note(fmt::format("  {}: paper {}, here {}; expected: {}", check["claim"].get<std::string>(),
                                  check["paper"].get<std::string>(), check["here"].get<std::string>(),
                                  check["criterion"].get<std::string>()));
  }

  const Settings& settings_;
  const cli::Console& console_;
  Gpu gpu_;
  fs::path data_;
  mutable std::string told_;  // why the last one did not run
};

// A selection leaves the report of all experiments as it is.
std::string report_name(const Settings& settings) {
  if (settings.names.empty()) return "report";
  return settings.names.size() == 1 ? settings.names.front() : "selection";
}

std::string csv_field(const Json& value) {
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_line(const Json& fields) {
  std::string line;
  for (const Json& field : fields) line += (line.empty() ? "" : ",") + csv_field(field);
  return line + "\n";
}

}  // namespace

std::string csv(const Json& columns, const Json& rows) {
  std::string text = csv_line(columns);
  for (const Json& row : rows) text += csv_line(row);
  return text;
}

std::vector<const Experiment*> select(const std::vector<std::string>& names) {
  std::vector<const Experiment*> chosen;
  std::string known;
  for (const Experiment& e : experiments()) {
    known += (known.empty() ? "" : ", ") + e.name;
    if (names.empty() || std::find(names.begin(), names.end(), e.name) != names.end()) chosen.push_back(&e);
  }
  for (const std::string& name : names)
    if (std::none_of(chosen.begin(), chosen.end(), [&](const Experiment* e) { return e->name == name; }))
      throw Error(Status::invalid_argument,
                  fmt::format("reproduce: unknown experiment \"{}\"; expected one of {}", name, known));
  return chosen;
}

Json overview(const Outcome& outcome) {
  Json list = Json::array();
  for (Json record : outcome.records) {
    if (record.contains("result")) record["checks"] = record["result"]["checks"];
    record.erase("result");
    record.erase("found");
    list.push_back(std::move(record));
  }
  return {{"report", outcome.report}, {"experiments", list}};
}

Outcome run(const Settings& settings, const cli::Console& console) {
  const std::vector<const Experiment*> chosen = select(settings.names);
  const Run runner(settings, console);
  Outcome outcome;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    outcome.records.push_back(
        runner.one(*chosen[i], fmt::format("{} ({} of {})", chosen[i]->name, i + 1, chosen.size())));
  outcome.trouble = draw(outcome.records, settings.out);
  const std::string name = report_name(settings);
  outcome.report = fs::path(settings.out) / (name + ".html");
  const fs::path summary = fs::path(settings.out) / (settings.names.empty() ? "summary.json" : name + ".json");
  write_file(summary, overview(outcome).dump(1) + "\n");
  write_file(outcome.report, html_report(outcome.records, settings.out));
  return outcome;
}

}  // namespace vernier::reproduce
