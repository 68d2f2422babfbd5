// Reading of files with one clear message for whatever goes wrong.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace vernier::cli {

// The message is "path: what".
class FileError : public std::runtime_error {
 public:
  FileError(const std::string& path, const std::string& what) : std::runtime_error(path + ": " + what) {}
};

bool is_regular_file(const std::string& path);

// "-" is stdin.
class InputFile {
 public:
  explicit InputFile(const std::string& path);

  const std::string& path() const { return path_; }
  std::optional<std::int64_t> size() const { return size_; }  // of a regular file; unknown for pipes and stdin
  std::int64_t position() const { return position_; }

  std::size_t read_some(void* data, std::size_t bytes);  // fewer only at the end of the file
  std::string read_all();

 private:
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::optional<std::int64_t> size_;
  std::int64_t position_ = 0;
};

}  // namespace vernier::cli
