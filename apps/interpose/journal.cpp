#include "journal.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "preload.hpp"
#include "settings.hpp"

namespace vernier::interpose {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* reason_text[reasons] = {
    "small",         "native is faster",         "nothing to multiply",      "invalid argument", "data too wide",
    "out of memory", "other type, mode or form", "factors in device memory", "unsupported here", "other error"};
constexpr std::size_t most_shapes = 10000, slowest_shown = 5;

struct Shape {
  vernier_type type;
  Routine routine;
  std::int64_t m, n, k;
  auto operator<=>(const Shape&) const = default;
};

struct Sum {
  std::uint64_t calls = 0;
  double seconds = 0;
};

// Never destroyed: calls may come until the very end.
struct Journal {
  std::atomic<Counts*> symbols{nullptr};
  std::mutex mutex;
  std::map<Shape, Sum> shapes;
  double seconds = 0;
  std::uint64_t fallbacks = 0, workspaces_used = 0, workspaces_too_small = 0;
  int largest_span = 0;
  std::string last_message, engine;
  bool inherited = false;  // by a child of fork(), which has made no call yet
};

Journal& journal() {
  static Journal& once = *new Journal;
  return once;
}

std::string routine_name(vernier_type type, Routine routine) {
  return static_cast<char>(type - 'A' + 'a') + std::string(name(routine));
}

std::string program_name() {
  std::ifstream file("/proc/self/cmdline");
  std::string line;
  std::getline(file, line, '\0');
  return line;
}

Json slowest(const Journal& j) {
  std::vector<std::pair<Shape, Sum>> all(j.shapes.begin(), j.shapes.end());
  std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.second.seconds > y.second.seconds; });
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(all.size(), slowest_shown); ++i) {
    const auto& [shape, sum] = all[i];
    list.push_back({{"routine", routine_name(shape.type, shape.routine)},
                    {"m", shape.m},
                    {"n", shape.n},
                    {"k", shape.k},
                    {"calls", sum.calls},
                    {"seconds", sum.seconds}});
  }
  return list;
}

Json summary() {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  std::uint64_t taken = 0, passed[reasons] = {};
  Json symbols = Json::object();
  for (const Counts* c = j.symbols.load(); c != nullptr; c = c->next) {
    std::uint64_t all_passed = 0;
    for (int r = 0; r < reasons; ++r) {
      passed[r] += c->passed[r];
      all_passed += c->passed[r];
    }
    taken += c->taken;
    symbols[c->symbol] = {{"taken", c->taken.load()}, {"passed_on", all_passed}};
  }
  Json json = {{"library", preload.name},
               {"program", program_name()},
               {"pid", getpid()},
               {"contract", settings().contract},
               {"min_size", settings().min_size},
               {"taken", taken},
               {"seconds", j.seconds}};
  json["engine"] = j.engine;
  json["fallbacks"] = j.fallbacks;
  json["largest_span"] = j.largest_span;
  json["passed_on"] = Json::object();
  for (int r = 0; r < reasons; ++r)
    if (passed[r] > 0) json["passed_on"][reason_text[r]] = passed[r];
  if (j.workspaces_used + j.workspaces_too_small > 0)
    json["workspaces"] = {{"used", j.workspaces_used}, {"too_small", j.workspaces_too_small}};
  if (!j.last_message.empty()) json["last_message"] = j.last_message;
  json["symbols"] = symbols;
  json["slowest"] = slowest(j);
  return json;
}

void append_line(const std::string& path, const std::string& line) {  // whole, also where processes share the file
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const bool written = file >= 0 && write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (!written) std::fprintf(stderr, "%s: VERNIER_REPORT=%s: cannot be written\n", preload.name, path.c_str());
  if (file >= 0) close(file);
}

std::string workspaces_text(const Json& json) {
  return "workspaces of the program: used for " + json["used"].dump() + " calls, too small for " +
         json["too_small"].dump() + ", which took memory of libvernier's own";
}

void print_summary(const Json& json) {
  const std::string name = preload.name;
  std::string text = name + ": " + json["taken"].dump() + " calls taken in " + json["seconds"].dump() + " s";
  for (const auto& [reason, count] : json["passed_on"].items())
    text += ", " + count.dump() + " passed on (" + reason + ")";
  text += "; largest span 2^" + json["largest_span"].dump() + "\n";
  if (json.contains("workspaces")) text += name + ":   " + workspaces_text(json["workspaces"]) + "\n";
  if (json.contains("last_message")) text += name + ":   " + json["last_message"].get<std::string>() + "\n";
  for (const Json& s : json["slowest"])
    text += name + ":   " + s["routine"].get<std::string>() + " " + s["m"].dump() + " x " + s["n"].dump() + " x " +
            s["k"].dump() + ": " + s["calls"].dump() + " calls, " + s["seconds"].dump() + " s\n";
  std::fputs(text.c_str(), stderr);
}

std::string dumped(const Json& json) {  // names of programs need not be UTF-8
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A child of fork() tells of its own calls alone.
void forget() {
  Journal& j = journal();
  for (Counts* c = j.symbols.load(); c != nullptr; c = c->next) {
    c->taken = 0;
    for (auto& passed : c->passed) passed = 0;
  }
  j.shapes.clear();
  j.seconds = 0;
  j.fallbacks = j.workspaces_used = j.workspaces_too_small = 0;
  j.largest_span = 0;
  j.last_message.clear();
  j.engine.clear();
  j.inherited = true;
  j.mutex.unlock();
}

bool any_call() {
  for (const Counts* c = journal().symbols.load(); c != nullptr; c = c->next)
    if (c->taken > 0 || std::any_of(std::begin(c->passed), std::end(c->passed), [](const auto& n) { return n > 0; }))
      return true;
  return false;
}

void tell() {
  if (journal().inherited && !any_call()) return;
  try {
    const Json json = summary();
    if (settings().verbose > 0) print_summary(json);
    if (!settings().report.empty()) append_line(settings().report, dumped(json) + "\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: no summary: %s\n", preload.name, error.what());
  }
}

}  // namespace

void enlist(Counts& counts) {
  static const int registered = [] {
    pthread_atfork([] { journal().mutex.lock(); }, [] { journal().mutex.unlock(); }, forget);
    return std::atexit(tell);
  }();
  static_cast<void>(registered);
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  for (const Counts* c = j.symbols.load(); c != nullptr; c = c->next)
    if (c == &counts) return;  // two first calls at once
  counts.next = j.symbols.load();
  j.symbols.store(&counts);
}

void record_taken(const Call& call, const vernier_report& report) {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  j.seconds += report.seconds;
  j.fallbacks += static_cast<std::uint64_t>(report.fallback);
  j.largest_span = std::max({j.largest_span, report.span_a, report.span_b});
  if (report.moduli > 0) j.engine = report.engine;
  const Shape shape{call.type, call.routine, call.m, call.n, call.k};
  if (j.shapes.size() >= most_shapes && !j.shapes.contains(shape)) return;
  Sum& sum = j.shapes[shape];
  ++sum.calls;
  sum.seconds += report.seconds;
}

void record_workspace(bool used) {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  ++(used ? j.workspaces_used : j.workspaces_too_small);
}

void record_message(const char* message) {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  j.last_message = message;
}

void say(const char* symbol, const Call& call, const char* what) {
  std::fprintf(stderr, "%s: %s m = %lld, n = %lld, k = %lld: %s\n", preload.name, symbol,
               static_cast<long long>(call.m), static_cast<long long>(call.n), static_cast<long long>(call.k), what);
}

}  // namespace vernier::interpose
