#include "tell.hpp"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "preload.hpp"
#include "settings.hpp"

namespace vernier::interpose {
namespace {

using Json = nlohmann::ordered_json;

void append_line(const std::string& path, const std::string& line) {  // whole, also where processes share the file
  const int file = open_to_append(path);
  const bool written = file >= 0 && write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (!written) std::fprintf(stderr, "%s: VERNIER_REPORT=%s: cannot be written\n", preload.name, path.c_str());
  if (file >= 0) close(file);
}

std::string workspaces_text(const Json& json) {
  return "workspaces of the program: used for " + json["used"].dump() + " calls, too small for " +
         json["too_small"].dump() + ", which took memory of libvernier's own";
}

std::string seconds(const Json& json) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f s", json.get<double>());
  return text;
}

void print_summary(const Json& json) {
  const std::string name = preload.name;
  std::string text = name + ": " + json["taken"].dump() + " calls taken in " + seconds(json["seconds"]);
  if (json["threads"] > 1)
    text += " summed over " + json["threads"].dump() + " threads (" + seconds(json["elapsed"]) + " elapsed)";
  for (const auto& [reason, count] : json["passed_on"].items())
    text += ", " + count.dump() + " passed on (" + reason + ")";
  text += "; largest span 2^" + json["largest_span"].dump() + "\n";
  if (json.contains("workspaces")) text += name + ":   " + workspaces_text(json["workspaces"]) + "\n";
  if (json.contains("last_message")) text += name + ":   " + json["last_message"].get<std::string>() + "\n";
  for (const Json& s : json["slowest"])
    text += name + ":   " + s["routine"].get<std::string>() + " " + s["m"].dump() + " x " + s["n"].dump() + " x " +
            s["k"].dump() + ": " + s["calls"].dump() + " calls, " + seconds(s["seconds"]) + "\n";
  std::fputs(text.c_str(), stderr);
}

std::string dumped(const Json& json) {  // names of programs need not be UTF-8
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void tell(Record& record, bool on_stderr) {
  try {
    const Json json = to_json(record);
    if ((on_stderr || settings().verbose > 0) && any_call(record)) print_summary(json);
    if (!settings().report.empty()) append_line(settings().report, dumped(json) + "\n");
    record.told = 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: no summary: %s\n", preload.name, error.what());
  }
}

}  // namespace vernier::interpose
