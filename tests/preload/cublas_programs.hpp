// Programs of cuBLAS under its preload, with stand-ins for cuBLAS and libvernier (cublas/).
#pragma once

#include "programs.hpp"

namespace vernier::test {

class CublasPreload : public Programs {
 protected:
  Outcome run(const std::string& settings, const std::string& what) {
    return run_under(VERNIER_PRELOAD, fakes + settings, "'" VERNIER_PROGRAM "' " + what);
  }
  Outcome run_module(const std::string& settings, const std::string& what) {
    return run_under(VERNIER_PRELOAD, fakes + settings, "'" VERNIER_HOST "' '" VERNIER_MODULE "' " + what);
  }
  Outcome plain(const std::string& what) { return shell("'" VERNIER_PROGRAM "' " + what); }

  static constexpr const char* fakes = "LD_LIBRARY_PATH='" VERNIER_FAKES "' ";
};

inline bool contains(const Outcome& outcome, const std::string& line) {
  return ("\n" + outcome.text).find("\n" + line + "\n") != std::string::npos;
}

// From the line that says what a call returned back to that of the call before.
inline std::string part(const std::string& text, const std::string& what) {
  const std::size_t end = text.find("\n" + what + ": ");
  if (end == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', end - 1);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     text.find('\n', end + 1) - (begin == std::string::npos ? 0 : begin + 1));
}

}  // namespace vernier::test
