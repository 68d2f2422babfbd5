#include "input_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace vernier::cli {

bool is_regular_file(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) throw FileError(path, std::strerror(errno));
  return S_ISREG(status.st_mode);
}

InputFile::InputFile(const std::string& path)
    : path_(path == "-" ? "stdin" : path), file_(path == "-" ? stdin : std::fopen(path.c_str(), "rb")) {
  if (file_ == nullptr) throw FileError(path, std::strerror(errno));
  struct stat status {};
  if (fstat(fileno(file_.get()), &status) != 0) throw FileError(path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw FileError(path, "is a directory");
  if (S_ISREG(status.st_mode) && file_.get() != stdin) size_ = status.st_size;
}

std::size_t InputFile::read_some(void* data, std::size_t bytes) {
  const std::size_t got = std::fread(data, 1, bytes, file_.get());
  if (got < bytes && std::ferror(file_.get()) != 0) throw FileError(path_, std::strerror(errno));
  position_ += static_cast<std::int64_t>(got);
  return got;
}

std::string InputFile::read_all() {
  constexpr std::size_t chunk = std::size_t{1} << 20;
  std::string text;
  if (size_) text.reserve(static_cast<std::size_t>(std::max<std::int64_t>(0, *size_ - position_)) + chunk);
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + chunk);
    const std::size_t got = read_some(text.data() + before, chunk);
    text.resize(before + got);
    if (got < chunk) return text;
  }
}

}  // namespace vernier::cli
