// Runs experiments into a folder: data/NAME.json and .csv, figures/NAME.svg and .png, summary.json, report.html; of a
// selection NAME.html and NAME.json, or selection.html and selection.json.
#pragma once

#include <string>
#include <vector>

#include "reproduce/experiment.hpp"
#include "terminal.hpp"

namespace vernier::reproduce {

struct Settings {
  std::vector<std::string> names;  // empty: all
  std::string out = "reproduce";
  bool quick = false;
  std::uint64_t seed = 1;
};

// The experiments of these names, in the order of the report; all of them if there is none. Throws Error for a name
// that is not known.
std::vector<const Experiment*> select(const std::vector<std::string>& names);

// What was done, one record an experiment: name, title, paper, figure, found, status ("done", "not run", "failed"),
// reason, agrees, reused, seconds, date, quick, seed, version, commit, machine, result.
struct Outcome {
  Json records = Json::array();
  std::string report;   // path
  std::string trouble;  // why figures were not drawn; empty if all is well
};

// The records without their data: what --json prints and summary.json holds.
Json overview(const Outcome& outcome);

// An experiment whose data are there already, computed with the same commit, seed and sizes, is not computed again.
Outcome run(const Settings& settings, const cli::Console& console);

// commit.cpp, written by the build: the commit, "-dirty-" and a hash of the differences where there are some; or
// "unknown".
const char* commit();

// ---- parts, for the above and for tests
// ------------------------------------------------------------------------------

std::string csv(const Json& columns, const Json& rows);

// Draws the panels of these records into out/figures by the Python script beside this program. Returns why not, or "".
std::string draw(const Json& records, const std::string& out);
// The files that draw() makes of a record, without folder and extension.
std::vector<std::string> figure_names(const Json& record);

// One page that stands alone; figures are read from out/figures and left out where they are not there.
std::string html_report(const Json& records, const std::string& out);

}  // namespace vernier::reproduce
