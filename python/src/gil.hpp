// The lock of the interpreter around products, for threads that a program leaves to itself at its end too.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace vernier::python {

// While the interpreter ends, Python up to 3.13 ends a daemon thread that asks for the lock by pthread_exit(). Its way
// out meets functions that nothing may leave, which would end the process: it sleeps until that is over, as from 3.14
// on.
template <class Ask>
auto or_sleep(Ask ask) {
  try {
    return ask();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    or_sleep([this] { PyEval_RestoreThread(state_); });
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

class WithGil {
 public:
  WithGil() : state_(or_sleep(PyGILState_Ensure)) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace vernier::python
