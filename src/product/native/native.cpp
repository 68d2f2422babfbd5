#include "product/native/native.hpp"

#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <string>

#include "base/environment.hpp"
#include "base/fork_mutex.hpp"
#include "base/instantiate.hpp"
#include "engine/panel.hpp"
#include "product/progress.hpp"

namespace vernier {
namespace {

int (*const get)() = native_symbol<int (*)()>("openblas_get_num_threads");
void (*const set)(int) = native_symbol<void (*)(int)>("openblas_set_num_threads");

// Blocks that a 32-bit integer can count; a leading dimension beyond that walks column by column of the block.
constexpr std::int64_t largest_int = std::numeric_limits<int>::max();
constexpr std::int64_t block = std::int64_t{1} << 30;

// A block of columns, where progress is told of, has as many multiplications at least (a tenth of a second on two
// cores), and as many columns: then all blocks together cost some 4 % more than the whole.
constexpr double told_multiplications = std::int64_t{1} << 32, told_columns = 512;

// Columns of such a block; n: one block is all.
template <class T>
std::int64_t told_block(std::int64_t m, std::int64_t n, std::int64_t k) {
  const double columns = static_cast<double>(n), all = static_cast<double>(m) * columns * static_cast<double>(k);
  const double blocks = std::min({(is_complex<T> ? 4 : 1) * all / told_multiplications, columns / told_columns, 100.0});
  return blocks < 2 ? n : round_up(divide_up(n, static_cast<std::int64_t>(blocks)), 64);
}

CBLAS_TRANSPOSE transposition(Op op) {
  return op == Op::none ? CblasNoTrans : op == Op::transpose ? CblasTrans : CblasConjTrans;
}

// A block of a call whose sizes the interface takes.
template <class T>
void call_blas(const GemmCall<T>& p) {
  constexpr double by_one_thread = 1 << 16;  // multiplications in OpenBLAS; by default four times as many
  const ForkGate gate(static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) > by_one_thread);
  const auto as_int = [](std::int64_t x) { return static_cast<int>(x); };
  of_type<T>(cblas_sgemm, cblas_dgemm, cblas_cgemm, cblas_zgemm)(
      CblasColMajor, transposition(p.opa), transposition(p.opb), as_int(p.m), as_int(p.n), as_int(p.k),
      native_factor(p.alpha), p.a, as_int(p.lda), p.b, as_int(p.ldb), native_factor(p.beta), p.c, as_int(p.ldc));
}

// By what threads the BLAS has.
template <class T>
void gemm_by_blocks(const GemmCall<T>& p, const std::function<void(double)>& tell) {
  const NativeCall inside;
  Progress progress(tell);
  // With one column a leading dimension is never used; else it must fit the interface, or the block has one column.
  const bool long_a = p.lda > largest_int, long_b = p.ldb > largest_int, long_c = p.ldc > largest_int;
  const std::int64_t mb = long_a && p.opa != Op::none ? 1 : block;
  const std::int64_t most = long_c || (long_b && p.opb == Op::none) ? 1 : block;
  const std::int64_t nb = progress.wanted() ? std::min(most, told_block<T>(p.m, p.n, p.k)) : most;
  const std::int64_t kb = (long_a && p.opa == Op::none) || (long_b && p.opb != Op::none) ? 1 : block;
  for (std::int64_t j = 0; j < p.n; j += nb) {
    for (std::int64_t i = 0; i < p.m; i += mb)
      for (std::int64_t l = 0; l < std::max<std::int64_t>(p.k, 1); l += kb) {
        GemmCall<T> part = p;
        part.m = std::min(mb, p.m - i), part.n = std::min(nb, p.n - j), part.k = std::min(kb, p.k - l);
        part.a += p.opa == Op::none ? i + l * p.lda : l + i * p.lda;
        part.b += p.opb == Op::none ? l + j * p.ldb : j + l * p.ldb;
        part.c += i + j * p.ldc;
        if (l != 0) part.beta = T{1};
        for (std::int64_t* length : {&part.lda, &part.ldb, &part.ldc}) *length = std::min(*length, largest_int);
        call_blas(part);
      }
    if (j + nb < p.n) progress.at(WorkShare{}.at(j + nb, p.n));
  }
  progress.finish();
}

template <class T>
[[gnu::noinline]] void set_and_multiply(const GemmCall<T>& p, int threads, const std::function<void(double)>& tell) {
  if (NearestProducts::asked()) {
    native_gemm_in_parts(p, threads > 0 || get == nullptr ? usable_threads(threads) : get());
    return Progress(tell).finish();
  }
  const NativeThreads setting(threads);
  gemm_by_blocks(p, tell);
}

// Operations that are worth a second thread.
constexpr double fewest_in_parts = 1 << 24;

}  // namespace

template <class T>
void native_gemm_in_parts(const GemmCall<T>& p, int threads) {
  const NativeThreads one(1);
  const bool by_rows = p.m > p.n;
  const std::int64_t length = by_rows ? p.m : p.n,
                     parts = (is_complex<T> ? 8 : 2) * p.shape().multiplications() < fewest_in_parts ||
                                     omp_in_parallel() != 0
                                 ? 1
                                 : std::clamp<std::int64_t>(length / 16, 1, threads),
                     step = round_up(divide_up(length, parts), 16);
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static) if (parts > 1)
  for (std::int64_t first = 0; first < length; first += step) {
    const FloatingEnvironment environment;
    GemmCall<T> part = p;
    (by_rows ? part.m : part.n) = std::min(step, length - first);
    if (by_rows)
      part.a += p.opa == Op::none ? first : first * p.lda;
    else
      part.b += p.opb == Op::none ? first * p.ldb : first;
    part.c += by_rows ? first : first * p.ldc;
    gemm_by_blocks(part, {});
  }
}

template <class T>
[[gnu::hot, gnu::flatten]] void native_gemm(const GemmCall<T>& p, int threads,
                                            const std::function<void(double)>& tell) {
  const bool as_is = threads <= 0 || get == nullptr || get() == threads;
  if (!as_is || tell || (p.m | p.n | p.k | p.lda | p.ldb | p.ldc) >= block || NearestProducts::asked())
    return set_and_multiply(p, threads, tell);
  const NativeCall inside;
  call_blas(p);
}

template <class T>
void native_gram(const GemmCall<T>& p, int threads, const std::function<void(double)>& tell) {
  constexpr std::int64_t panels = 8, narrowest = 512, tile = 32;
  Progress progress(tell);
  const std::int64_t width = std::max(narrowest, round_up(divide_up(p.n, panels), tile));
  for (std::int64_t j = 0; j < p.n; j += width) {
    GemmCall<T> part = p;
    part.m -= j, part.n = std::min(width, p.n - j);
    part.a += p.opa == Op::none ? j : j * p.lda;
    part.b += p.opb == Op::none ? j * p.ldb : j;
    part.c += j + j * p.ldc;
    native_gemm(part, threads);
    progress.at(WorkShare{}.at(j + part.n, p.n));
  }
#pragma omp parallel for num_threads(usable_threads(threads)) schedule(dynamic, 1)
  for (std::int64_t first = 0; first < p.n; first += tile)
    for (std::int64_t i = first; i < p.n; ++i)
      for (std::int64_t j = first; j < std::min(first + tile, i); ++j) p.c[j + i * p.ldc] = p.c[i + j * p.ldc];
  progress.finish();
}

std::string native_blas() {
  const auto config = native_symbol<char* (*)()>("openblas_get_config");
  return config != nullptr ? std::string(config()) : "BLAS";
}

const std::string& native_name() {
  static const std::string name = [] {
    const auto renamed = native_symbol<int (*)()>("vernier_blas_renamed");  // of a preload
    if (renamed != nullptr && renamed() != 0) return std::string("the program's OpenBLAS");
    const std::string all = native_blas();
    return all.substr(0, all.find(' ', all.find(' ') + 1));
  }();
  return name;
}

VERNIER_TYPE_INSTANCES(native_gemm, native_gemm_in_parts)
VERNIER_REAL_INSTANCES(native_gram)

namespace {

int users = 0, before = 0;

// Never destroyed, as the mutex asks.
ForkMutex& mutex() {
  static ForkMutex& once = *new ForkMutex;
  return once;
}
[[maybe_unused]] const ForkMutex& made_early = mutex();  // no fork() comes in between

}  // namespace

// What the BLAS has already is nobody's to set back.
[[gnu::hot]] NativeThreads::NativeThreads(int threads)
    : active_(threads > 0 && get != nullptr && set != nullptr && (NearestProducts::asked() || get() != threads)) {
  if (!active_) return;
  const std::lock_guard lock(mutex());
  if (users > 0 && NearestProducts::asked()) threads = std::min(threads, get());  // a proof may have set one
  if (users++ == 0) before = get();
  if (get() != threads) set(threads);
}

[[gnu::hot]] NativeThreads::~NativeThreads() {
  if (!active_) return;
  const std::lock_guard lock(mutex());
  if (--users == 0 && get() != before) set(before);
}

}  // namespace vernier
