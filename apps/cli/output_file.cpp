#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "input_file.hpp"
#include "temporary_name.hpp"

namespace vernier::cli {
namespace {

char pending[PATH_MAX];                     // what the signal handler has to remove
volatile std::sig_atomic_t is_pending = 0;  // whether there is anything

void remove_and_die(int signal) {
  if (is_pending != 0) unlink(pending);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void watch(const std::string& temporary) {
  if (temporary.size() >= sizeof pending) return;
  std::memcpy(pending, temporary.c_str(), temporary.size() + 1);
  is_pending = 1;
  for (int signal : {SIGXFSZ, SIGPIPE}) std::signal(signal, SIG_IGN);  // too large a file, no reader: write() says so
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, remove_and_die) == SIG_IGN) std::signal(signal, SIG_IGN);  // nohup stays nohup
  }
}

mode_t default_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// Where the links lead, also one to a file that is not there yet.
std::filesystem::path followed(std::filesystem::path path, std::error_code& error) {
  constexpr int most_links = 40;
  for (int links = 0; std::filesystem::is_symlink(path, error); ++links) {
    if (links == most_links) {
      error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
      return path;
    }
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  }
  return std::filesystem::weakly_canonical(path, error);
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  std::error_code error;
  target_ = followed(path, error).string();
  if (error) fail(error.message());
  struct stat status {};
  const bool exists = stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("is a directory");
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(std::strerror(errno));
    return;
  }
  if (exists && access(target_.c_str(), W_OK) != 0) fail(std::strerror(errno));
  open_temporary(exists ? status.st_mode & 07777 : default_mode());
}

void OutputFile::open_temporary(unsigned mode) {
  const std::filesystem::path target(target_);
  temporary_ = temporary_name(target.parent_path() / ("." + target.filename().string()));
  descriptor_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    const int why = errno;
    temporary_.clear();
    fail(std::string("cannot be written: ") + std::strerror(why));
  }
  watch(temporary_);
  fchmod(descriptor_, mode);  // where this fails (some network shares) the file stays private: no reason to refuse
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
  is_pending = 0;
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
}

void OutputFile::write(const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, next, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(std::string("writing failed: ") + std::strerror(errno));
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void OutputFile::commit() {
  if (temporary_.empty()) return;
  if (fsync(descriptor_) != 0) fail(std::string("writing failed: ") + std::strerror(errno));
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail(std::string("renaming failed: ") + std::strerror(errno));
  is_pending = 0;
  temporary_.clear();
}

void OutputFile::fail(const std::string& what) const { throw FileError(path_ == "-" ? "stdout" : path_, what); }

}  // namespace vernier::cli
