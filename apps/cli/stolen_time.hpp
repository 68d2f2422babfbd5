// How much of a virtual machine's time other machines of its host take.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace vernier::cli {

// Of the time that processors were wanted since the start, the share that they were not to be had; by the first line of
// /proc/stat. 0 where that says nothing.
inline double stolen_share(const std::string& line) {
  std::istringstream words(line);
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, softly = 0, stolen = 0;
  if (!(words >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> softly >> stolen) || name != "cpu")
    return 0;
  const double wanted = user + nice + system + interrupts + softly + stolen;
  return wanted > 0 ? stolen / wanted : 0;
}

inline double stolen_share() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  return stolen_share(line);
}

}  // namespace vernier::cli
