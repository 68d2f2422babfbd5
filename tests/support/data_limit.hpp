// What the process may map besides what it has, in the life of an object.
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>

namespace vernier::test {

class DataLimit {
 public:
  explicit DataLimit(std::size_t more) {
    std::ifstream status("/proc/self/status");
    std::string word;
    rlim_t kibibytes = 0;
    while (status >> word && word != "VmData:") {
    }
    if (!(status >> kibibytes) || getrlimit(RLIMIT_DATA, &before_) != 0) throw std::runtime_error("VmData: not told");
    const rlimit limit = {1024 * kibibytes + more, before_.rlim_max};
    if (setrlimit(RLIMIT_DATA, &limit) != 0) throw std::runtime_error("RLIMIT_DATA: not set");
  }
  ~DataLimit() { setrlimit(RLIMIT_DATA, &before_); }
  DataLimit(const DataLimit&) = delete;
  DataLimit& operator=(const DataLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace vernier::test
