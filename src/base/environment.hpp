// What a calling thread brings along that must not show in a result: rounding mode, flush-to-zero, a forked process.
#pragma once

#include <atomic>
#include <cfenv>

#if VERNIER_X86
#include <xmmintrin.h>
#endif

namespace vernier {

// Round to nearest, subnormal numbers kept, for the life of the object; then as before. One in each thread that
// computes.
class FloatingEnvironment {
 public:
  FloatingEnvironment() {
    std::fegetenv(&before_);
    std::fesetround(FE_TONEAREST);
#if VERNIER_X86
    constexpr unsigned flush_to_zero = 0x8000, subnormals_are_zero = 0x0040;
    _mm_setcsr(_mm_getcsr() & ~(flush_to_zero | subnormals_are_zero));
#endif
  }
  ~FloatingEnvironment() { std::fesetenv(&before_); }
  FloatingEnvironment(const FloatingEnvironment&) = delete;
  FloatingEnvironment& operator=(const FloatingEnvironment&) = delete;

 private:
  std::fenv_t before_;
};

// The same for a whole routine, whose scalars a thread that flushes would compare as zeros, and whose native products
// would be rounded twice as far: nothing is touched where all is as it should be.
#if VERNIER_X86
class RoutineMode {
 public:
  RoutineMode() {
    if ((before_ & changed) != 0) _mm_setcsr(before_ & ~changed);
  }
  ~RoutineMode() {
    if ((before_ & changed) != 0) _mm_setcsr((_mm_getcsr() & raised) | before_);
  }
  RoutineMode(const RoutineMode&) = delete;
  RoutineMode& operator=(const RoutineMode&) = delete;

 private:
  static constexpr unsigned changed = 0x6000 | 0x8000 | 0x0040, raised = 0x3f;  // rounding, flush, as zeros; exceptions
  const unsigned before_ = _mm_getcsr();
};
#else
using RoutineMode = FloatingEnvironment;
#endif

inline constinit std::atomic<bool> in_forked_child{false};

// Threads of a product: the number asked for, or OpenMP's choice for 0; never more than 4 a processor. One in a child
// of fork(), where the parent's thread pool does not exist.
int usable_threads(int asked);

}  // namespace vernier
