// Output that appears whole or not at all.
#pragma once

#include <cstddef>
#include <string>

namespace vernier::cli {

// Bytes go to a temporary file beside the target, which commit() renames to it; without commit() the temporary is
// removed, also when SIGINT, SIGTERM or SIGHUP ends the program. One such file at a time. A target that is not a
// regular file (a device, a pipe) and "-", which is stdout, are written to directly. Every failure is a FileError.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void commit();

 private:
  void open_temporary(unsigned mode);
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;       // as the user wrote it, for messages
  std::string target_;     // symbolic links resolved: the file they name is replaced, not the link
  std::string temporary_;  // empty when writing directly
  int descriptor_ = -1;
};

}  // namespace vernier::cli
