// What the program says and where: results go to stdout, everything meant for a person's eyes to stderr.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace vernier::cli {

// Throws where stdout does not take it, so that no output file gets its name without its report.
void print_at_once(const std::string& text);

class Console {
 public:
  bool json = false;   // --json: results as JSON on stdout
  bool quiet = false;  // --quiet: errors only

  Console();
  void note(std::string_view text) const;  // to stderr unless quiet
  void report(const std::string& text,
              const std::string& output) const;  // to stdout unless `output` wants it, or quiet
  void warning(std::string_view text) const;     // to stderr unless quiet
  void error(std::string_view text) const;       // to stderr always
  bool shows_progress() const { return terminal_ && !quiet; }
  std::string strong(std::string_view text) const;  // bold on a terminal's stdout

 private:
  bool terminal_;       // stderr is one that can move its cursor
  bool stderr_colour_;  // NO_COLOR is honoured
  bool stdout_colour_;
};

// A bar on stderr for work that takes longer than a second; cleared when the object dies.
class Progress {
 public:
  Progress(const Console& console, std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(double fraction);
  // Never empty, also where no bar is shown: a library that is told to report may take other blocks, and the bits of a
  // result should not depend on the terminal.
  std::function<void(double)> callback();

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  std::string label_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_ = start_;
  bool visible_ = false;
};

// The bar itself, without the cursor movement: "label [#####     ]  50 %   3 s left".
std::string progress_line(std::string_view label, double fraction, double seconds);

}  // namespace vernier::cli
