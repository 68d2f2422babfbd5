#include "terminal.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "input_file.hpp"

namespace vernier::cli {
namespace {

bool colour_wanted() {
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org: set and not empty
  const char* term = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') && term != nullptr && std::string_view(term) != "dumb";
}

bool cursor_moves() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

// What stderr does not take is lost, and nothing else: fmt::print would throw.
void tell(const std::string& text) { std::fputs(text.c_str(), stderr); }

void say(std::string_view prefix, fmt::terminal_color colour, bool coloured, std::string_view text) {
  const std::string head =
      coloured ? fmt::format(fmt::emphasis::bold | fmt::fg(colour), "{}", prefix) : std::string(prefix);
  tell(fmt::format("{} {}\n", head, text));
}

}  // namespace

void print_at_once(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw FileError("stdout", "writing failed");
}

Console::Console()
    : terminal_(cursor_moves()),
      stderr_colour_(isatty(STDERR_FILENO) != 0 && colour_wanted()),
      stdout_colour_(isatty(STDOUT_FILENO) != 0 && colour_wanted()) {}

void Console::note(std::string_view text) const {
  if (!quiet) tell(fmt::format("{}{}", text, text.ends_with('\n') ? "" : "\n"));
}

void Console::report(const std::string& text, const std::string& output) const {
  if (output == "-") return note(text);
  if (!quiet) print_at_once(text + (text.ends_with('\n') ? "" : "\n"));
}

void Console::warning(std::string_view text) const {
  if (!quiet) say("warning:", fmt::terminal_color::yellow, stderr_colour_, text);
}

void Console::error(std::string_view text) const {
  say("vernier: error:", fmt::terminal_color::red, stderr_colour_, text);
}

std::string Console::strong(std::string_view text) const {
  return stdout_colour_ ? fmt::format(fmt::emphasis::bold, "{}", text) : std::string(text);
}

std::string progress_line(std::string_view label, double fraction, double seconds) {
  constexpr int width = 30;
  const double done = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  const int filled = static_cast<int>(done * width);
  std::string line = fmt::format("{} [{:<{}}] {:3.0f} %", label, std::string(filled, '#'), width, 100 * done);
  if (done > 0) line += fmt::format("  {:.0f} s left", seconds * (1 - done) / done);
  return line;
}

Progress::Progress(const Console& console, std::string label)
    : enabled_(console.shows_progress()), label_(std::move(label)) {}

Progress::~Progress() {
  if (visible_) tell("\r\033[K");
}

void Progress::update(double fraction) {
  using namespace std::chrono_literals;
  const auto now = Clock::now();
  if (!enabled_ || now - start_ < 1s || (visible_ && now - drawn_ < 100ms)) return;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  tell(fmt::format("\r{}\033[K", progress_line(label_, fraction, seconds)));
  std::fflush(stderr);
  drawn_ = now;
  visible_ = true;
}

std::function<void(double)> Progress::callback() {
  return [this](double fraction) { update(fraction); };
}

}  // namespace vernier::cli
