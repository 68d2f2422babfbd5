// dlopen as the program calls it. RTLD_DEEPBIND lets a library find its own BLAS, and dlsym, before the preload's. It
// is taken off libblastrampoline, which Julia loads so and which has no BLAS of its own to keep; whatever else is
// loaded so keeps it, and the summary says so where its BLAS is out of reach. By a jump, so that the C library sees the
// caller.
#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "deepbind.hpp"
#include "original.hpp"

#ifdef __x86_64__

namespace {

constinit std::atomic<bool> bound{false};

}  // namespace

bool vernier::interpose::any_bound_deeply() { return bound; }

extern "C" __attribute__((visibility("hidden"))) void* vernier_next_dlopen;
void* vernier_next_dlopen = nullptr;

// The flags that go on. Runs before anything else of this preload may have run.
extern "C" __attribute__((visibility("hidden"), used)) int vernier_dlopen_flags(const char* file, int flags) {
  using namespace vernier::interpose;
  if (vernier_next_dlopen == nullptr) vernier_next_dlopen = look_up(RTLD_NEXT, "dlopen");
  if ((flags & RTLD_DEEPBIND) == 0 || file == nullptr) return flags;
  if (std::strstr(file, "libblastrampoline") != nullptr) return flags & ~RTLD_DEEPBIND;
  bound = true;
  return flags;
}

asm(R"(
  .text
  .globl dlopen
  .type dlopen, @function
dlopen:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  subq $16, %rsp
  .cfi_adjust_cfa_offset 16
  call vernier_dlopen_flags
  movl %eax, %esi
  addq $16, %rsp
  .cfi_adjust_cfa_offset -16
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmpq *vernier_next_dlopen(%rip)
  .cfi_endproc
  .size dlopen, . - dlopen
)");

#else

bool vernier::interpose::any_bound_deeply() { return false; }

#endif
