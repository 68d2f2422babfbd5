// dlsym as the program calls it: functions that a program looks up by hand are taken over too, as in XLA (JAX), Julia
// and Python's ctypes. Whatever is none of ours, and RTLD_NEXT and RTLD_DEFAULT, whose meaning depends on who asks,
// goes straight on: by a jump, so that the C library sees the caller itself. Only x86-64 has that jump. In a program
// without a cuBLAS its functions are absent, as without the preload.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstring>
#include <initializer_list>
#include <iterator>

#include "original.hpp"
#include "preload.hpp"

#ifdef __x86_64__

// What comes after this preload: another one, or the C library.
extern "C" __attribute__((visibility("hidden"))) void* vernier_next_dlsym;
void* vernier_next_dlsym = nullptr;

// 128 entries that jump to where these point.
extern "C" __attribute__((visibility("hidden"))) void* vernier_second_targets[128];
void* vernier_second_targets[128] = {};
extern "C" __attribute__((visibility("hidden"))) const char vernier_second_entries[128][16];

// Stands for: there is none.
extern "C" __attribute__((visibility("hidden"))) char vernier_absent;
char vernier_absent = 0;

namespace {

// The scope that the preload itself is in: RTLD_DEFAULT, and what dlopen gives for the program.
bool is_global(void* library) { return library == RTLD_DEFAULT || *static_cast<link_map*>(library)->l_name == '\0'; }

// libblastrampoline forwards to nothing that it takes for itself: to what its own names are bound to, which with this
// preload are our functions. It gets other addresses for them.
void* second_entry(void* function) {
  for (std::size_t i = 0; i < std::size(vernier_second_targets); ++i) {
    void* target = nullptr;
    if (std::atomic_ref(vernier_second_targets[i]).compare_exchange_strong(target, function) || target == function)
      return const_cast<char*>(vernier_second_entries[i]);
  }
  return function;
}

}  // namespace

// Null: to be passed on. Runs before anything else of this preload may have run.
extern "C" __attribute__((visibility("hidden"), used)) void* vernier_replaced_symbol(void* library, const char* name,
                                                                                     const void* caller) {
  using namespace vernier::interpose;
  if (vernier_next_dlsym == nullptr) vernier_next_dlsym = look_up(RTLD_NEXT, "dlsym");
  if (library == RTLD_NEXT || name == nullptr) return nullptr;
  if (std::strncmp(name, "cublas", 6) == 0 && is_global(library) && is_absent_without_us(name)) return &vernier_absent;
  if (library == RTLD_DEFAULT) return nullptr;
  if (preload.awaited != nullptr && std::strcmp(name, preload.awaited) == 0) preload.prepare();
  bool level3 = false;  // could it be? all others cost no second look
  for (const char* part : {"mm", "rk", "r2k", "rsm", "cublas"}) level3 = level3 || std::strstr(name, part) != nullptr;
  if (!level3) return nullptr;
  void* const ours =
      replacement(name, reinterpret_cast<void* (*)(void*, const char*)>(vernier_next_dlsym)(library, name));
  return ours != nullptr && is_of_trampoline(caller) ? second_entry(ours) : ours;
}

// For libvernier, whose own calls of cuBLAS come from threads of its own too: what no preload has replaced.
extern "C" __attribute__((visibility("default"))) void* vernier_underneath(void* library, const char* name) {
  return vernier::interpose::look_up(library, name);
}

asm(R"(
  .text
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movq 24(%rsp), %rdx
  call vernier_replaced_symbol
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testq %rax, %rax
  jne 1f
  jmpq *vernier_next_dlsym(%rip)
1:
  leaq vernier_absent(%rip), %rdx
  cmpq %rdx, %rax
  jne 2f
  xorl %eax, %eax
2:
  ret
  .cfi_endproc
  .size dlsym, . - dlsym

  .hidden vernier_second_entries
  .globl vernier_second_entries
  .p2align 4
vernier_second_entries:
  .set vernier_entry, 0
  .rept 128
  .p2align 4
  endbr64
  jmpq *vernier_second_targets + 8 * vernier_entry(%rip)
  .set vernier_entry, vernier_entry + 1
  .endr
  .size vernier_second_entries, . - vernier_second_entries
)");

#endif
