// At the end of a process under `vernier run` that made no call: the libraries that it had loaded say where its
// products may have been made.
#include <fstream>
#include <sstream>

#include "journal.hpp"
#include "preload.hpp"
#include "settings.hpp"

namespace {

__attribute__((destructor)) void say_what_is_out_of_reach() {
  using namespace vernier::interpose;
  if (variable("VERNIER_COUNTERS").empty() || any_call_seen()) return;
  std::ostringstream maps;
  maps << std::ifstream("/proc/self/maps").rdbuf();
  const std::string what = out_of_reach(maps.str());
  if (!what.empty()) record_out_of_reach(what.c_str());
}

}  // namespace
