// What a calling thread brings along that must not show in a result: rounding mode, flush-to-zero, a forked process.
#pragma once

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

// Threads of a product: the number asked for, or OpenMP's choice for 0; never more than 4 a processor. One in a child
// of fork(), where the parent's thread pool does not exist.
int usable_threads(int asked);

}  // namespace vernier
