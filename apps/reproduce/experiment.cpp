#include "reproduce/experiment.hpp"

#include <fmt/format.h>

#include <cmath>

namespace vernier::reproduce {
namespace {

const char* text(Mark mark) {
  constexpr const char* names[] = {"line", "dashed", "points", "points_and_line", "bars"};
  return names[static_cast<int>(mark)];
}

Json to_json(const Axis& axis) {
  constexpr const char* scales[] = {"linear", "log2", "log10"};
  Json json = {{"label", axis.label}, {"scale", scales[static_cast<int>(axis.scale)]}};
  if (!axis.categories.empty()) json["categories"] = axis.categories;
  return json;
}

// JSON has no infinities: they become null, and the drawing leaves such points out.
Json numbers(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double v : values) json.push_back(std::isfinite(v) ? Json(v) : Json());
  return json;
}

Json to_json(const Panel& panel) {
  Json series = Json::array();
  for (const Series& s : panel.series) {
    series.push_back({{"label", s.label}, {"mark", text(s.mark)}, {"x", numbers(s.x)}, {"y", numbers(s.y)}});
    if (s.colour >= 0) series.back()["colour"] = s.colour;
  }
  return {{"title", panel.title},
          {"x", to_json(panel.x)},
          {"y", to_json(panel.y)},
          {"stacked", panel.stacked},
          {"series", series}};
}

Json to_json(const Check& c) {
  return {{"claim", c.claim}, {"paper", c.paper}, {"here", c.here}, {"criterion", c.criterion}, {"agrees", c.agrees}};
}

}  // namespace

void Result::near(std::string claim, double paper, double here, double tolerance) {
  check(std::move(claim), fmt::format("{:.4g}", paper), fmt::format("{:.4g}", here),
        fmt::format("to {:.3g} %", 100 * tolerance), std::abs(here / paper - 1) <= tolerance);
}

void Result::within(std::string claim, double paper, double here, double tolerance) {
  check(std::move(claim), fmt::format("{:.6g}", paper), fmt::format("{:.6g}", here),
        tolerance == 0 ? "exactly" : fmt::format("to {:g}", tolerance), std::abs(here - paper) <= tolerance);
}

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> list = [] {
    std::vector<Experiment> all;
    add_ootomo_yokota(all);
    add_mukunoki(all);
    add_mary(all);
    add_fasi(all);
    add_beyond(all);
    return all;
  }();
  return list;
}

Json to_json(const Result& result) {
  Json panels = Json::array(), checks = Json::array();
  for (const Panel& p : result.panels) panels.push_back(to_json(p));
  for (const Check& c : result.checks) checks.push_back(to_json(c));
  return {{"here", result.here},
          {"checks", checks},
          {"show_table", result.show_table},
          {"columns", result.table.columns},
          {"rows", result.table.rows},
          {"panels", panels}};
}

bool agrees(const Json& result) {
  for (const Json& check : result.at("checks"))
    if (!check.at("agrees").get<bool>()) return false;
  return true;
}

}  // namespace vernier::reproduce
