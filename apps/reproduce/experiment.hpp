// One experiment of a paper: what the paper found, how it is computed here, and what came out.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace vernier::reproduce {

using Json = nlohmann::ordered_json;

struct Context {
  bool quick = false;  // smaller sizes, fewer seeds: about a minute for all
  std::uint64_t seed = 1;
  std::function<void(double)> progress = [](double) {};  // the fraction done of this experiment
};

// ---- what came out
// ---------------------------------------------------------------------------------------------------

// Rows of numbers and words, the whole of the data: what goes into the CSV file.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Json>> rows;
  void add(std::vector<Json> row) { rows.push_back(std::move(row)); }
};

enum class Mark { line, dashed, points, points_and_line, bars };

struct Series {
  std::string label;
  std::vector<double> x, y;
  Mark mark = Mark::points_and_line;
  int colour = -1;  // place in the palette; -1: that of the series in its panel
  void add(double at, double value) { x.push_back(at), y.push_back(value); }
};

enum class Scale { linear, log2, log10 };

struct Axis {
  std::string label;  // with its unit
  Scale scale = Scale::linear;
  std::vector<std::string> categories;  // of bars: x counts them from 0
};

struct Panel {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
  bool stacked = false;  // bars on top of each other
};

// A statement that can be true or false, decided by the data.
struct Check {
  std::string claim;      // of the paper, in words
  std::string paper;      // its number, if it states one; what follows from its analysis, if that gives one
  std::string here;       // ours
  std::string criterion;  // what counts as agreement
  bool agrees = false;
};

struct Result {
  std::string here;  // what was found here, in words and numbers
  Table table;
  bool show_table = false;  // the table is the figure
  std::vector<Panel> panels;
  std::vector<Check> checks;

  void check(std::string claim, std::string paper, std::string here, std::string criterion, bool agrees) {
    checks.push_back({std::move(claim), std::move(paper), std::move(here), std::move(criterion), agrees});
  }
  // |here / paper - 1| <= tolerance.
  void near(std::string claim, double paper, double here, double tolerance);
  // |here - paper| <= tolerance.
  void within(std::string claim, double paper, double here, double tolerance);
};

// ---- what is done
// ----------------------------------------------------------------------------------------------------

struct Experiment {
  std::string name, title;
  std::string paper;   // "Ootomo, Yokota (2021)"
  std::string figure;  // "figure 1"
  std::string found;   // what the paper found
  bool needs_gpu = false;
  std::function<Result(const Context&)> run;
};

// All of them, in the order of the report.
const std::vector<Experiment>& experiments();

// Each adds those of its paper.
void add_ootomo_yokota(std::vector<Experiment>& list);
void add_mukunoki(std::vector<Experiment>& list);
void add_mary(std::vector<Experiment>& list);
void add_fasi(std::vector<Experiment>& list);
void add_beyond(std::vector<Experiment>& list);

Json to_json(const Result& result);
bool agrees(const Json& result);  // every check does

}  // namespace vernier::reproduce
