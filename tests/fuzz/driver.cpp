// Runs a fuzz target without a fuzzer: the seeds, then mutations of them. Run i is a function of the seed and i alone.
//
//   fuzz_NAME [--runs N] [--seed S] [--first I] [--seconds T]
//   fuzz_NAME --write FOLDER      the seeds as files, for libFuzzer
//   fuzz_NAME FILE...             one run for each
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>

#include "fuzz/target.hpp"

namespace vernier::fuzz {
namespace {

constexpr std::size_t most_bytes = 8192;

using Random = std::mt19937_64;

// Numbers and letters at which readers change their minds.
std::string interesting(Random& random) {
  static const std::vector<std::string> pieces = {"-1",
                                                  "0",
                                                  "1e999",
                                                  "-0",
                                                  "nan",
                                                  "inf",
                                                  "9223372036854775807",
                                                  "18446744073709551615",
                                                  "2147483648",
                                                  "\"",
                                                  "'",
                                                  "{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  ",",
                                                  ":",
                                                  "\n",
                                                  "%",
                                                  "True",
                                                  "null",
                                                  "false",
                                                  "1e30",
                                                  "()",
                                                  std::string(1, '\0'),
                                                  "\xff\xff\xff\xff",
                                                  "\x80",
                                                  "\\u",
                                                  "/*"};
  return pieces[random() % pieces.size()];
}

void mutate_once(std::string& input, const std::vector<std::string>& corpus, Random& random) {
  const std::size_t at = input.empty() ? 0 : random() % input.size();
  const std::size_t length = std::min<std::size_t>(input.size() - at, 1 + random() % 16);
  switch (random() % 8) {
    case 0:
      if (!input.empty()) input[at] = static_cast<char>(input[at] ^ (1 << random() % 8));
      break;
    case 1:
      if (!input.empty()) input[at] = static_cast<char>(random());
      break;
    case 2:
      input.erase(at, length);
      break;
    case 3:
      input.insert(at, input.substr(at, length));
      break;
    case 4:
      input.replace(at, length, interesting(random));
      break;
    case 5:
      input.insert(at, interesting(random));
      break;
    case 6: {
      const std::string& other = corpus[random() % corpus.size()];
      input = input.substr(0, at) + other.substr(std::min(at, other.size()));
      break;
    }
    default:
      input.resize(at);
  }
  if (input.size() > most_bytes) input.resize(most_bytes);
}

std::string input_of(std::uint64_t seed, std::uint64_t run, const std::vector<std::string>& corpus) {
  if (run < corpus.size()) return corpus[run];
  Random random(seed * 0x9e3779b97f4a7c15 + run);
  std::string input = corpus[random() % corpus.size()];
  for (std::uint64_t i = 1 + random() % 6; i > 0; --i) mutate_once(input, corpus, random);
  return input;
}

volatile std::sig_atomic_t current_run = -1;

void tell_run(int signal) {
  char text[96];
  const int bytes = std::snprintf(text, sizeof text, "signal %d in run %d: repeat it with --first %d --runs 1\n",
                                  signal, static_cast<int>(current_run), static_cast<int>(current_run));
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(bytes)) < 0) _exit(3);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

struct Settings {
  std::uint64_t runs = 1000, seed = 1, first = 0;
  double seconds = 1e9;
  std::string folder;
  std::vector<std::string> files;
};

Settings parse(int argc, char** argv) {
  Settings s;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name.rfind("--", 0) != 0) {
      s.files.push_back(name);
      continue;
    }
    if (i + 1 == argc) throw std::runtime_error(name + ": a value is missing");
    const char* value = argv[++i];
    if (name == "--runs") s.runs = std::strtoull(value, nullptr, 10);
    if (name == "--seed") s.seed = std::strtoull(value, nullptr, 10);
    if (name == "--first") s.first = std::strtoull(value, nullptr, 10);
    if (name == "--seconds") s.seconds = std::strtod(value, nullptr), s.runs = UINT64_MAX;
    if (name == "--write") s.folder = value;
  }
  return s;
}

int replay(const std::vector<std::string>& files) {
  for (const std::string& name : files) {
    std::ifstream file(name, std::ios::binary);
    if (!file) throw std::runtime_error(name + ": cannot be read");
    try_input(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return 0;
}

int write_seeds(const std::string& folder) {
  int number = 0;
  for (const std::string& seed : seeds())
    if (!(std::ofstream(folder + "/seed-" + std::to_string(number++), std::ios::binary) << seed).flush())
      throw std::runtime_error(folder + ": cannot be written");
  return 0;
}

int run(int argc, char** argv) {
  const Settings s = parse(argc, argv);
  if (!s.folder.empty()) return write_seeds(s.folder);
  if (!s.files.empty()) return replay(s.files);
  const std::vector<std::string> corpus = seeds();
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM}) std::signal(signal, tell_run);
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t done = 0;
  for (; done < s.runs; ++done) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >= s.seconds) break;
    current_run = static_cast<std::sig_atomic_t>(s.first + done);
    alarm(60);  // a run that hangs
    try_input(input_of(s.seed, s.first + done, corpus));
  }
  alarm(0);
  std::printf("%llu runs from %zu seeds\n", static_cast<unsigned long long>(done), corpus.size());
  return 0;
}

}  // namespace
}  // namespace vernier::fuzz

int main(int argc, char** argv) { return vernier::fuzz::run(argc, argv); }
