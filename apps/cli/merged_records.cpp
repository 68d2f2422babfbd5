#include "merged_records.hpp"

#include <algorithm>
#include <cstdint>

namespace vernier::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_slowest = 5;

bool alike(const Json& x, const Json& y) {
  for (const char* key : {"library", "program", "contract"})
    if (x[key] != y[key]) return false;
  return true;
}

void add_counts(Json& to, const Json& from) {
  for (const auto& [key, count] : from.items()) to[key] = to.value(key, std::uint64_t{0}) + count.get<std::uint64_t>();
}

bool same_shape(const Json& x, const Json& y) {
  return x["routine"] == y["routine"] && x["m"] == y["m"] && x["n"] == y["n"] && x["k"] == y["k"];
}

void add_slowest(Json& to, const Json& from) {
  for (const Json& s : from) {
    const auto known = std::find_if(to.begin(), to.end(), [&](const Json& t) { return same_shape(s, t); });
    if (known == to.end()) {
      to.push_back(s);
      continue;
    }
    (*known)["calls"] = (*known)["calls"].get<std::uint64_t>() + s["calls"].get<std::uint64_t>();
    (*known)["seconds"] = (*known)["seconds"].get<double>() + s["seconds"].get<double>();
  }
  std::stable_sort(to.begin(), to.end(), [](const Json& x, const Json& y) {
    return x["seconds"].get<double>() > y["seconds"].get<double>();
  });
}

// Of two bounds; null is none, of a process without a call that has one.
Json weaker(const Json& x, const Json& y) {
  if (x.is_null() || y.is_null()) return x.is_null() ? y : x;
  return std::max(x.get<double>(), y.get<double>());
}

void add(Json& to, const Json& from) {
  to["processes"] = to.value("processes", 1) + 1;
  for (const char* key : {"taken", "fallbacks"})
    to[key] = to[key].get<std::uint64_t>() + from[key].get<std::uint64_t>();
  for (const char* key : {"seconds", "seconds_passed_on"}) to[key] = to[key].get<double>() + from[key].get<double>();
  to["elapsed"] = std::max(to["elapsed"].get<double>(), from["elapsed"].get<double>());
  to["log2_bound"] = weaker(to["log2_bound"], from["log2_bound"]);
  for (const char* key : {"threads", "largest_span"}) to[key] = std::max(to[key].get<int>(), from[key].get<int>());
  if (from.contains("unfinished")) to["unfinished"] = to.value("unfinished", 0) + from["unfinished"].get<int>();
  if (to["engine"] == "") to["engine"] = from["engine"];
  add_counts(to["passed_on"], from["passed_on"]);
  if (to.contains("workspaces") && from.contains("workspaces")) add_counts(to["workspaces"], from["workspaces"]);
  for (const char* key : {"workspaces", "largest_native", "largest_wide", "last_message"})
    if (!to.contains(key) && from.contains(key)) to[key] = from[key];
  add_slowest(to["slowest"], from["slowest"]);
}

}  // namespace

std::vector<Json> merged_records(const std::vector<Json>& records) {
  std::vector<Json> merged;
  for (const Json& record : records) {
    const auto known = std::find_if(merged.begin(), merged.end(), [&](const Json& m) { return alike(m, record); });
    if (known == merged.end())
      merged.push_back(record);
    else
      add(*known, record);
  }
  for (Json& m : merged)
    if (m.contains("processes") && m["slowest"].size() > most_slowest)
      m["slowest"].erase(m["slowest"].begin() + most_slowest, m["slowest"].end());
  return merged;
}

}  // namespace vernier::cli
