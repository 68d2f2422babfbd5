#include "run_summary.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "elf_file.hpp"
#include "merged_records.hpp"

namespace vernier::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_shown = 8;

std::vector<const interpose::Record*> records_of(const interpose::Board& board) {
  std::vector<const interpose::Record*> all;
  const std::uint32_t count = std::min<std::uint32_t>(board.claimed, interpose::most_records);
  for (std::uint32_t i = 0; i < count; ++i)
    if (board.records[i].pid != 0) all.push_back(&board.records[i]);
  return all;
}

std::string passed_text(const Json& passed) {
  std::string text;
  for (const auto& [reason, count] : passed.items())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.get<std::uint64_t>(), reason);
  return text.empty() ? "none" : text;
}

std::string taken_text(const Json& json) {
  std::string text =
      fmt::format("{} calls, {:.3f} s", json["taken"].get<std::uint64_t>(), json["seconds"].get<double>());
  const int processes = json.value("processes", 1);
  if (processes > 1)
    text += fmt::format(" summed over {} processes, {:.3f} s by the clock of the longest", processes,
                        json["elapsed"].get<double>());
  else if (const int threads = json["threads"]; threads > 1)
    text += fmt::format(" summed over {} threads, {:.3f} s by the clock", threads, json["elapsed"].get<double>());
  if (const std::string engine = json["engine"]; !engine.empty()) text += fmt::format(", engine {}", engine);
  if (json.contains("unfinished"))
    text += fmt::format("; the end of the process cut off {} more", json["unfinished"].get<int>());
  return text;
}

std::string contract_text(const Json& json) {
  const std::string set = json["contract"];
  std::string text = set.empty() ? "fp32 for s and c, fp64 for d and z" : set;
  if (json["taken"] == 0 || json["log2_bound"].is_null()) return text;
  if (text.find("exact") != std::string::npos) return text + "; each element rounded once";
  const bool normwise = text.find("normwise") != std::string::npos;
  return text + fmt::format("; each error at most 2^{:.1f} {}", json["log2_bound"].get<double>(),
                            normwise ? "|A_i| |B_j|" : "|A||B|");
}

// dgemm 3 x 3 x 3: and why the program's own plan for it was as it was.
std::string shape_text(const Json& shape) {
  return fmt::format("{} {} x {} x {}: {}", shape["routine"].get<std::string>(), shape["m"].get<std::int64_t>(),
                     shape["n"].get<std::int64_t>(), shape["k"].get<std::int64_t>(),
                     shape.value("reason", std::string("not to be explained")));
}

// Data too wide for products of integers, element by element.
std::string wide_text(const Json& json) {
  const std::string contract = json["contract"];
  const std::string what =
      fmt::format("{} calls fell back or were passed on for their data: exponents too wide for integers",
                  json["fallbacks"].get<std::uint64_t>() + json["passed_on"].value("data too wide", std::uint64_t{0}));
  if (contract.find("normwise") != std::string::npos) return what;
  const std::string other = what + "; --contract fp64-normwise serves all data, with errors relative to |A_i| |B_j|";
  if (!json.contains("largest_wide")) return other;
  return other + "; by it " + shape_text(json["largest_wide"]);
}

void show_reasons(const Json& json, const Console& console) {
  const Json& passed = json["passed_on"];
  if (json.contains("largest_native")) console.note(fmt::format("  faster     {}", shape_text(json["largest_native"])));
  if (json["fallbacks"] > 0 || passed.contains("data too wide"))
    console.note(fmt::format("  wide       {}", wide_text(json)));
  if (json.contains("last_message"))
    console.note(fmt::format("  last said  {}", json["last_message"].get<std::string>()));
}

void show(const Json& json, const Console& console) {
  const std::string library = json["library"];
  const std::string who = json.contains("processes") ? fmt::format("{} processes", json["processes"].get<int>())
                                                     : fmt::format("process {}", json["pid"].get<int>());
  console.note(fmt::format("vernier run: {} of {} ({})",
                           library == "vernier_cublas"  ? "cuBLAS"
                           : library == "vernier_pblas" ? "PBLAS"
                                                        : "BLAS",
                           json["program"].get<std::string>(), who));
  console.note(fmt::format("  contract   {}", contract_text(json)));
  console.note(fmt::format("  taken      {}", taken_text(json)));
  const double seconds = json["seconds_passed_on"];
  console.note(fmt::format("  passed on  {}{}", passed_text(json["passed_on"]),
                           seconds > 0 ? fmt::format("; the large ones took {:.3f} s", seconds) : ""));
  show_reasons(json, console);
  if (json["taken"] == 0) return;
  console.note(fmt::format("  data       largest span 2^{}, {} fallbacks to the native product",
                           json["largest_span"].get<int>(), json["fallbacks"].get<std::uint64_t>()));
  if (json.contains("workspaces"))
    console.note(fmt::format("  workspaces of the program: used for {} calls, too small for {}",
                             json["workspaces"]["used"].get<std::uint64_t>(),
                             json["workspaces"]["too_small"].get<std::uint64_t>()));
  for (const Json& s : json["slowest"])
    console.note(fmt::format("  {:<9}  {} x {} x {}: {} calls, {:.3f} s", s["routine"].get<std::string>(),
                             s["m"].get<std::int64_t>(), s["n"].get<std::int64_t>(), s["k"].get<std::int64_t>(),
                             s["calls"].get<std::uint64_t>(), s["seconds"].get<double>()));
}

void show_rest(const std::vector<Json>& rest, const Console& console) {
  std::uint64_t taken = 0, passed = 0;
  double seconds = 0;
  for (const Json& json : rest) {
    taken += json["taken"].get<std::uint64_t>();
    seconds += json["seconds"].get<double>();
    for (const auto& [reason, count] : json["passed_on"].items()) passed += count.get<std::uint64_t>();
  }
  console.note(fmt::format("vernier run: {} more programs: {} calls taken in {:.3f} s summed over them, {} passed on",
                           rest.size(), taken, seconds, passed));
}

std::filesystem::path found_in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* list = std::getenv("PATH");
  std::istringstream folders(list != nullptr ? list : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path candidate = std::filesystem::path(folder.empty() ? "." : folder) / program;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return program;
}

std::string why_nothing(const std::string& program) {
  const std::filesystem::path path = found_in_path(program);
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return "";
  const bool other_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid();
  const bool other_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != getegid();
  if (other_user || other_group)
    return "; it takes another user's or group's rights (set-user-ID), where the loader preloads nothing: start it as "
           "that user";
  if (interpose::linking_of(path) == interpose::Linking::static_only)
    return "; it is linked statically, so that nothing can be preloaded: link it to a shared libblas, or to libvernier";
  return " (see `vernier info`: preload)";
}

}  // namespace

void show_summary(const interpose::Board& board, const std::string& program, const Console& console) {
  std::vector<Json> with_calls, out_of_reach;
  for (const interpose::Record* record : records_of(board))
    if (interpose::any_call(*record)) with_calls.push_back(interpose::to_json(*record));
  // A process that hands its work to others of the same program, as Python's multiprocessing, is reached.
  const auto reached = [&](const interpose::Record& record) {
    return std::any_of(with_calls.begin(), with_calls.end(),
                       [&](const Json& json) { return json["program"] == record.program; });
  };
  for (const interpose::Record* record : records_of(board))
    if (!interpose::any_call(*record) && record->out_of_reach[0] != '\0' && !reached(*record))
      out_of_reach.push_back(interpose::to_json(*record));
  with_calls = merged_records(with_calls);
  const std::size_t shown = with_calls.size() > most_shown + 1 ? most_shown : with_calls.size();
  for (std::size_t i = 0; i < shown; ++i) show(with_calls[i], console);
  if (shown < with_calls.size())
    show_rest({with_calls.begin() + static_cast<std::ptrdiff_t>(shown), with_calls.end()}, console);
  for (std::size_t i = 0; i < std::min(most_shown, out_of_reach.size()); ++i)
    console.note(fmt::format("vernier run: no level-3 call of {} (process {}): {}",
                             out_of_reach[i]["program"].get<std::string>(), out_of_reach[i]["pid"].get<int>(),
                             out_of_reach[i]["out_of_reach"].get<std::string>()));
  // Those beyond the last record, and those that found no room on the disk.
  const std::size_t uncounted = board.claimed - records_of(board).size();
  if (uncounted > 0)
    console.note(fmt::format("vernier run: {} processes more were not counted: there was no room for it", uncounted));
  if (board.unmapped != 0)
    console.note(
        fmt::format("vernier run: calls of process {} were not counted here: it has no addresses for the counters",
                    board.unmapped.load()));
  if (with_calls.empty() && out_of_reach.empty() && uncounted == 0 && board.unmapped == 0)
    console.note("vernier run: no level-3 call of BLAS, CBLAS or cuBLAS was seen" + why_nothing(program));
}

void complete_report(const interpose::Board& board, const std::string& path, const Console& console) {
  std::ofstream file;
  for (const interpose::Record* record : records_of(board)) {
    if (record->told != 0 || !interpose::any_call(*record) || kill(record->pid, 0) == 0) continue;
    if (!file.is_open()) file.open(path, std::ios::app);
    file << interpose::to_json(*record).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
  }
  if (file.is_open() && !file) console.warning(fmt::format("{}: cannot be written", path));
}

}  // namespace vernier::cli
