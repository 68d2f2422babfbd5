#include "run_signals.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <initializer_list>

namespace vernier::cli {
namespace {

// Waits with all signals blocked. Asked about one, it says whether it has got that too.
struct Witness {
  pid_t process = -1;
  int question = -1, answer = -1;
};

struct State {
  std::atomic<pid_t> program{0};  // 0: not yet; -1: it has ended
  std::atomic_flag asking = ATOMIC_FLAG_INIT;
  Witness witness;
};
constinit State state;

[[noreturn]] void be_witness(int question, int answer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (stream != question && stream != answer) close(stream);
  for (int signal = 0; read(question, &signal, sizeof signal) == sizeof signal;) {
    sigset_t asked;
    sigemptyset(&asked);
    sigaddset(&asked, signal);
    const timespec at_once = {0, 0};
    const int got = sigtimedwait(&asked, nullptr, &at_once) == signal;
    if (write(answer, &got, sizeof got) != sizeof got) break;
  }
  _exit(0);
}

Witness call_witness() {
  int question[2] = {-1, -1}, answer[2] = {-1, -1};
  if (pipe2(question, O_CLOEXEC) == 0 && pipe2(answer, O_CLOEXEC) == 0) {
    const pid_t process = fork();
    if (process == 0) {
      close(question[1]);
      close(answer[0]);
      be_witness(question[0], answer[1]);
    }
    if (process > 0) {
      close(question[0]);
      close(answer[1]);
      return {process, question[1], answer[0]};
    }
  }
  for (const int end : {question[0], question[1], answer[0], answer[1]})
    if (end >= 0) close(end);
  return {};
}

// Without a witness only what ends a process is handed on, and not what a keyboard sends to the group.
bool for_this_process_alone(int signal) {
  const Witness& w = state.witness;
  if (w.process < 0) return signal != SIGINT && signal != SIGQUIT && signal != SIGCONT && signal != SIGWINCH;
  int got = 0;
  const bool asked =
      write(w.question, &signal, sizeof signal) == sizeof signal && read(w.answer, &got, sizeof got) == sizeof got;
  return !asked || got == 0;
}

// No other signal comes in between in this thread; another thread waits.
void hand_on(int signal, siginfo_t* info, void*) {
  const int error = errno;
  while (state.program == 0 || state.asking.test_and_set()) sched_yield();
  const pid_t program = state.program;
  if (program > 0 && for_this_process_alone(signal)) {
    if (info->si_code == SI_QUEUE)
      sigqueue(program, signal, info->si_value);
    else
      kill(program, signal);
  }
  state.asking.clear();
  errno = error;
}

// Left as they are: what cannot be caught, what stops a process, faults, and what is of this process.
bool is_handed_on(int signal) {
  for (const int other : {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD, SIGPIPE, SIGXFSZ, SIGXCPU, SIGSEGV,
                          SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
    if (signal == other) return false;
  return signal <= SIGSYS || signal >= SIGRTMIN;
}

}  // namespace

RunSignals::RunSignals() {
  struct sigaction child = {}, before = {};
  child.sa_handler = SIG_DFL;  // ignored, as the starter of this process may have it, nobody could wait for a child
  sigaction(SIGCHLD, &child, &before);
  before_.emplace_back(SIGCHLD, before);
  for (const int signal : {SIGPIPE, SIGXFSZ}) act(signal, nullptr);
}

RunSignals::~RunSignals() {
  stop();
  for (const auto& [signal, action] : before_) sigaction(signal, &action, nullptr);
}

// Null: ignored. What was ignored before is handed on too: the program may have decided otherwise.
void RunSignals::act(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {}, before = {};
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_RESTART | (handler != nullptr ? SA_SIGINFO : 0);
  if (handler != nullptr)
    action.sa_sigaction = handler;
  else
    action.sa_handler = SIG_IGN;
  sigaction(signal, &action, &before);
  before_.emplace_back(signal, before);
}

void RunSignals::hold() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &mask_before_);
  state.witness = call_witness();
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if (is_handed_on(signal)) act(signal, hand_on);
}

void RunSignals::hand_on_to(pid_t program) {
  state.program = program;
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void RunSignals::restore_in_program() const {
  for (const auto& [signal, action] : before_) sigaction(signal, &action, nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

// A signal that came to this thread while it holds `asking` would wait for ever for it to be clear.
void RunSignals::stop() {
  state.program = -1;
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  while (state.asking.test_and_set()) sched_yield();
  if (state.witness.process > 0) {
    kill(state.witness.process, SIGKILL);
    while (waitpid(state.witness.process, nullptr, 0) < 0 && errno == EINTR) {
    }
    close(state.witness.question);
    close(state.witness.answer);
    state.witness = {};
  }
  state.asking.clear();
  sigprocmask(SIG_SETMASK, &before, nullptr);  // what came meanwhile is dropped
  for (const auto& [signal, action] : before_)
    if (is_handed_on(signal)) sigaction(signal, &action, nullptr);
}

}  // namespace vernier::cli
