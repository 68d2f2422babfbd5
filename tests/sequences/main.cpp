// call_sequences: random sequences of hostile calls in one process, every result held against integers of any length.
//
//   call_sequences [--sequences N] [--seed S] [--first I] [--seconds T] [--gpu] [--big]
//
// Sequence i is a function of the seed and i alone. Exit code 1 where a call broke a promise; each is told.
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <list>
#include <string>

#include "sequences/session.hpp"

namespace vernier::sequences {
namespace {

struct Asked {
  std::uint64_t sequences = 1000, seed = 1, first = 0;
  double seconds = 1e9;
  bool gpu = false, big = false;
};

Asked parse(int argc, char** argv) {
  Asked a;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--gpu" || name == "--big") {
      (name == "--gpu" ? a.gpu : a.big) = true;
      continue;
    }
    const char* value = i + 1 < argc ? argv[++i] : nullptr;
    if (value == nullptr) throw std::runtime_error(name + ": a value is missing");
    if (name == "--sequences")
      a.sequences = std::strtoull(value, nullptr, 10);
    else if (name == "--seed")
      a.seed = std::strtoull(value, nullptr, 10);
    else if (name == "--first")
      a.first = std::strtoull(value, nullptr, 10);
    else if (name == "--seconds")
      a.seconds = std::strtod(value, nullptr), a.sequences = UINT64_MAX;
    else
      throw std::runtime_error(name + ": expected --sequences, --seed, --first, --seconds, --gpu or --big");
  }
  return a;
}

volatile std::sig_atomic_t current = -1;

void tell_sequence(int signal) {
  char text[80];
  const int bytes = std::snprintf(text, sizeof text, "signal %d in sequence %d\n", signal, static_cast<int>(current));
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(bytes)) < 0) _exit(3);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

struct Calls {
  std::uint64_t made = 0, served = 0;
};

void run_sequence(std::uint64_t number, const Asked& asked, Calls& calls) {
  Random random(asked.seed * 0x9e3779b97f4a7c15 + number);
  Random surroundings(asked.seed * 0x9e3779b97f4a7c15 + ~number);
  Environment e{random, surroundings, asked.gpu, asked.big};
  std::list<Handle> handles(static_cast<std::size_t>(random.integer(1, 3)));
  for (std::int64_t call = 0, most = random.integer(2, 12); call < most; ++call, ++calls.made) {
    auto handle = handles.begin();
    std::advance(handle, random.integer(0, static_cast<std::int64_t>(handles.size()) - 1));
    const std::string where = "sequence " + std::to_string(number) + ", call " + std::to_string(call) + ": ";
    (chance(random, 0.6) ? call_gemm : call_level3)(e, *handle, where);
  }
  for (const Handle& handle : handles) calls.served += static_cast<std::uint64_t>(handle.served);
}

int run(const Asked& asked) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM}) std::signal(signal, tell_sequence);
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t done = 0, faults = 0;
  Calls calls;
  for (; done < asked.sequences; ++done) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >= asked.seconds) break;
    current = static_cast<std::sig_atomic_t>(asked.first + done);
    alarm(120);  // a call that hangs
    try {
      run_sequence(asked.first + done, asked, calls);
    } catch (const std::exception& fault) {
      std::printf("%s\n", fault.what());
      std::fflush(stdout);
      if (++faults == 100) break;
    }
  }
  std::printf("%llu sequences, %llu calls, %llu of them served, %llu faults\n", static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(calls.made), static_cast<unsigned long long>(calls.served),
              static_cast<unsigned long long>(faults));
  const bool few = calls.served * 4 < calls.made;  // then little was judged; some 70 % are usual
  if (few) std::puts("too few of the calls were served");
  return faults == 0 && !few ? 0 : 1;
}

}  // namespace
}  // namespace vernier::sequences

int main(int argc, char** argv) try {
  return vernier::sequences::run(vernier::sequences::parse(argc, argv));
} catch (const std::exception& error) {
  std::fprintf(stderr, "call_sequences: %s\n", error.what());
  return 2;
}
