// What a parallel product does where something is not as it should be, on 2 processes or more:
//
//     behaviour wide      one process holds data too wide for the contract: all fall back
//     behaviour memory    one process has no memory for its elements: all fall back
//     behaviour workspace one process has no memory to scan, and then to multiply: all fall back
//     behaviour dies N    one process ends with code N before the product: the others do not wait for ever
//     behaviour deep      no contract: local products have more than the 32 columns that PBLAS would take
//     behaviour panels    one process has no memory for the panels that PBLAS brings: all fall back
//     behaviour shallow   no contract: one process has no memory for deep panels: all take PBLAS's own blocks
//     behaviour shared    a small C with a long k lies on one process, and its operands stay where they are
//
// Exits with 0 where C is right on process 0. A watchdog ends a process that waits for longer than a minute.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "blacs.hpp"

extern "C" {
void pdgemm_(const char*, const char*, const int*, const int*, const int*, const void*, void*, const int*, const int*,
             const int*, void*, const int*, const int*, const int*, const void*, void*, const int*, const int*,
             const int*);

// Memory that is refused: of libvernier_scalapack's elements, while asked for.
void* __libc_calloc(std::size_t, std::size_t);
static bool refuse_memory = false;
static long refused = 0;
__attribute__((visibility("default"))) void* calloc(std::size_t count, std::size_t size) {
  if (refuse_memory && count > 3000) return ++refused, nullptr;
  return __libc_calloc(count, size);
}

// The same of libvernier's workspaces, after some that it gets.
static int granted = -1;
__attribute__((visibility("default"))) void* mmap(void* at, std::size_t size, int protection, int flags, int file,
                                                  off_t offset) {
  Dl_info caller;
  if (granted >= 0 && file == -1 && dladdr(__builtin_return_address(0), &caller) != 0 && caller.dli_fname != nullptr &&
      std::strstr(caller.dli_fname, "libvernier.so") != nullptr && granted-- == 0) {
    ++refused;
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, file, offset));
}

// The same of panels.
static bool refuse_panels = false;
__attribute__((visibility("default"))) int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  if (refuse_panels) return ++refused, ENOMEM;
  *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  return *memory == nullptr ? ENOMEM : 0;
}

// Of local products: the longest k, and the largest of what each has for its least dimension.
static int longest = 0, thickest = 0;
__attribute__((visibility("default"))) void dgemm_(const char* opa, const char* opb, const int* m, const int* n,
                                                   const int* k, const double* alpha, const double* a, const int* lda,
                                                   const double* b, const int* ldb, const double* beta, double* c,
                                                   const int* ldc) {
  using Gemm = decltype(&dgemm_);
  static const auto next = reinterpret_cast<Gemm>(dlsym(RTLD_NEXT, "dgemm_"));
  longest = std::max(longest, *k);
  thickest = std::max(thickest, std::min({*m, *n, *k}));
  next(opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
}

namespace vernier::test::behaviour {
namespace {

// B is the unit matrix, so that C is A, as far as fp64 promises.
int product(const std::string& mode, const Grid& grid, int rank, int turn) {
  const int large = mode == "deep" ? 320 * (1 + turn / 2) : 320;     // panels of the last product fit, or do not
  const int n = mode == "workspace" || mode == "deep" ? large : 96;  // more than the first workspace holds
  Whole<double> a(n, n), b(n, n), c(n, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      a.at(i, j) = 1.0 / (1 + i + 3 * j + turn);
      if (mode == "wide" && i == 20) a.at(i, j) = std::ldexp(a.at(i, j), j % 2 == 0 ? 700 : -700);
      b.at(i, j) = i == j ? 1 : 0;
      c.at(i, j) = 7;
    }
  Dealt<double> x(a, grid, {16, 16, 0, 0}), y(b, grid, {16, 16, 0, 0}), z(c, grid, {16, 16, 0, 0});
  const double one = 1, beta = mode == "memory" ? 0.5 : 0;
  const int first = 1;
  refuse_memory = mode == "memory" && rank == 1;
  if (mode == "workspace" && rank == 1) granted = turn;
  pdgemm_("N", "N", &n, &n, &n, &one, x.local.data(), &first, &first, x.descriptor, y.local.data(), &first, &first,
          y.descriptor, &beta, z.local.data(), &first, &first, z.descriptor);
  refuse_memory = false;
  granted = -1;
  const Whole<double> result = z.gathered(n, n);
  if (mode == "memory" && rank == 1 && refused == 0) return std::fprintf(stderr, "no memory was refused\n"), 1;
  if (rank != 0) return 0;
  if (mode == "deep" && longest < n) return std::fprintf(stderr, "local products of k = %d at most\n", longest), 1;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if (const double expected = a.at(i, j) + 7 * beta;
          !(std::abs(result.at(i, j) - expected) <= n * 0x1p-53 * (std::abs(a.at(i, j)) + 7 * beta)))
        return std::fprintf(stderr, "(%d, %d): got %g, expected %g\n", i, j, result.at(i, j), expected), 1;
  return 0;
}

// C = A^T B of integers, with a long k; one block of A and B is n wide.
int long_product(const std::string& mode, const Grid& grid, int rank) {
  const bool shared = mode == "shared";
  const int n = shared ? 64 : mode == "shallow" ? 320 : 160, k = shared ? 8200 : mode == "shallow" ? 2048 : 4096;
  Whole<double> a(shared ? n : k, shared ? k : n), b(k, n), c(n, n);
  const auto left = [](int i, int l) { return (i + 3 * l) % 7 - 3; };
  const auto right = [](int l, int j) { return l % 5 == j % 5 ? 1 + l % 3 : 0; };
  for (int l = 0; l < k; ++l)
    for (int i = 0; i < n; ++i) (shared ? a.at(i, l) : a.at(l, i)) = left(i, l), b.at(l, i) = right(l, i);
  const int block = shared ? 64 : 16;
  Dealt<double> x(a, grid, {block, block, 0, 0}), y(b, grid, {block, block, 0, 0}), z(c, grid, {block, block, 0, 0});
  const double one = 1, zero = 0;
  const int first = 1;
  refuse_panels = !shared && rank == 1;
  pdgemm_(shared ? "N" : "T", "N", &n, &n, &k, &one, x.local.data(), &first, &first, x.descriptor, y.local.data(),
          &first, &first, y.descriptor, &zero, z.local.data(), &first, &first, z.descriptor);
  refuse_panels = false;
  const Whole<double> result = z.gathered(n, n);
  if (!shared && rank == 1 && refused == 0) return std::fprintf(stderr, "no memory was refused\n"), 1;
  if (mode == "shallow" && thickest > 32)
    return std::fprintf(stderr, "process %d: blocks of %d at most; expected PBLAS's 32\n", rank, thickest), 1;
  if (rank != 0) return 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      double expected = 0;
      for (int l = j % 5; l < k; l += 5) expected += left(i, l) * right(l, j);
      if (result.at(i, j) != expected)
        return std::fprintf(stderr, "(%d, %d): got %g, expected %g\n", i, j, result.at(i, j), expected), 1;
    }
  return 0;
}

int run(int argc, char** argv) {
  if (argc < 2)
    return std::fprintf(stderr,
                        "usage: behaviour wide | memory | workspace | dies CODE | deep | panels | shallow | shared\n"),
           2;
  alarm(60);
  int rank = 0, processes = 0;
  Cblacs_pinfo(&rank, &processes);
  Grid g;
  Cblacs_get(-1, 0, &g.context);
  Cblacs_gridinit(&g.context, "Row", 1, processes);
  Cblacs_gridinfo(g.context, &g.rows, &g.columns, &g.row, &g.column);
  const std::string mode = argv[1];
  if (mode == "dies" && rank == 1) _exit(std::atoi(argv[2]));
  int code = 0;
  if (mode == "panels" || mode == "shallow" || mode == "shared")
    code = long_product(mode, g, rank);
  else
    for (int i = 0; i < (mode == "workspace" || mode == "deep" ? 4 : 1); ++i) code |= product(mode, g, rank, i);
  if (mode == "workspace" && rank == 1 && refused < 2) code |= std::fprintf(stderr, "%ld refusals\n", refused) > 0;
  if (rank == 0 && code == 0) std::printf("%s: C is right\n", argv[1]);
  std::fflush(stdout);
  Cblacs_exit(0);
  return code;
}

}  // namespace
}  // namespace vernier::test::behaviour

int main(int argc, char** argv) { return vernier::test::behaviour::run(argc, argv); }
