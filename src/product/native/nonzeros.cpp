#include "product/native/nonzeros.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "base/cpu_features.hpp"
#include "base/environment.hpp"
#include "base/workspace.hpp"
#include "engine/panel.hpp"
#include "product/strip.hpp"
#include "product/update.hpp"

namespace vernier {
#if VERNIER_X86
namespace {

constexpr double most_share = 0.2;     // of nonzeros
constexpr std::int64_t most_k = 8192;  // a panel lies in a second-level cache

// By 512 elements, or by so few as tell that it is too large.
double share_of_nonzeros(const Operand<double>& x) {
  constexpr std::uint64_t looks = 512, enough = static_cast<std::uint64_t>(most_share * looks) + 1;
  std::uint64_t nonzeros = 0;
  for (std::uint64_t look = 0; look < looks && nonzeros < enough; ++look) {
    const std::uint64_t place = look * 0x9e3779b97f4a7c15;
    const auto at = [](std::uint64_t i, std::int64_t size) { return static_cast<std::int64_t>(i) % size; };
    nonzeros += *x.at(at(place & 0xffffffff, x.vectors), at(place >> 32, x.k)) != 0 ? 1 : 0;
  }
  return static_cast<double>(nonzeros) / looks;
}

bool is_finite(const double* x, std::int64_t count) {
  constexpr std::uint64_t exponent = 0x7ffull << 52;
  bool finite = true;
  for (std::int64_t i = 0; i < count; ++i) finite &= (std::bit_cast<std::uint64_t>(x[i]) & exponent) != exponent;
  return finite;
}

// Vectors first .. first + 31 of y as [k][32].
void fill_panel(const Operand<double>& y, std::int64_t first, double* panel) {
  const Operand<double> strip = gather_strip(y, first, 0, y.k, panel);
  constexpr std::int64_t step = 16;
  for (std::int64_t l = 0; strip.k_contiguous && l < y.k; l += step)
    for (std::int64_t v = 0; v < strip_size; ++v)
      for (std::int64_t i = l; i < std::min(l + step, y.k); ++i)
        panel[i * strip_size + v] = v < strip.vectors ? *strip.at(v, i) : 0;
}

class NonzeroProduct {
 public:
  // rows: x is op(A).
  NonzeroProduct(const GemmProblem<double>& p, int threads, bool rows)
      : to_(p.to),
        rows_(rows),
        x_(rows ? p.a : p.b),
        y_(rows ? p.b : p.a),
        threads_(threads),
        room_(static_cast<std::int64_t>(most_share * elements())) {}

  void carve(Arena& arena) {
    const auto at = [](std::int64_t count) { return static_cast<std::size_t>(count); };
    lists_ = arena.take<List>(at(x_.vectors));
    terms_ = arena.take<Nonzero>(at(room_));
    scratch_ = arena.take<Nonzero>(at(threads_ * scratch_size()));
  }

  // Lists of x's nonzeros, while y is looked through. False if there are too many, or y holds what is not finite.
  bool read() {
    std::atomic<bool> serves = true;
    const std::int64_t lines = y_.k_contiguous ? y_.vectors : y_.k, length = y_.k_contiguous ? y_.k : y_.vectors;
#pragma omp parallel num_threads(threads_)
    {
      const FloatingEnvironment environment;  // subnormal elements are none to a thread that flushes
#pragma omp for schedule(dynamic, 1) nowait
      for (std::int64_t first = 0; first < x_.vectors; first += strip_size)
        if (serves.load(std::memory_order_relaxed) && !list_strip(first)) serves = false;
#pragma omp for schedule(dynamic, 16)
      for (std::int64_t line = 0; line < lines; ++line)
        if (serves.load(std::memory_order_relaxed) && !is_finite(y_.data + line * y_.ld, length)) serves = false;
    }
    return serves;
  }

  // For so many nonzeros: on a Zen 5 a term takes 0.06 to 0.10 ns; on cores of an Emerald Rapids that other programs
  // shared, 0.13 to 0.15, where OpenBLAS had half of its rate too.
  double seconds(double nonzeros) const {
    constexpr double term = 0.09e-9, element = 1.3e-9;  // of an entry, a fused operation; to read one of x or y
    const auto size = [](std::int64_t x) { return static_cast<double>(x); };
    return (term * nonzeros * size(y_.vectors) + element * size(x_.vectors + y_.vectors) * size(x_.k)) / threads_;
  }
  double elements() const { return static_cast<double>(x_.vectors * x_.k); }
  double nonzeros() const { return static_cast<double>(used_); }

  void multiply(Progress& progress) const {
#pragma omp parallel num_threads(threads_)
    {
      const FloatingEnvironment environment;
      double* panel = reinterpret_cast<double*>(scratch(omp_get_thread_num()));
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t first = 0; first < y_.vectors; first += strip_size) {
        progress.at(WorkShare{}.at(first, y_.vectors));
        fill_panel(y_, first, panel);
        for (std::int64_t i = 0; i < x_.vectors; i += strip_size) multiply_tile(i, first, panel);
      }
    }
  }

 private:
  struct List {
    std::int64_t begin, count;
  };

  std::int64_t scratch_size() const { return x_.k * strip_size; }
  Nonzero* scratch(int thread) const { return scratch_ + thread * scratch_size(); }

  bool list_strip(std::int64_t first) {
    const Operand<double> strip = strip_of(x_, first, 0, x_.k);
    const Nonzero* terms = scratch(omp_get_thread_num());
    std::int64_t counts[strip_size], all = 0;
    take_nonzeros_avx512(strip, scratch(omp_get_thread_num()), counts);
    for (const std::int64_t count : counts) all += count;
    std::int64_t place = used_.fetch_add(all, std::memory_order_relaxed);
    if (place + all > room_) return false;
    for (std::int64_t v = 0; v < strip.vectors; place += counts[v++]) {
      lists_[first + v] = {place, counts[v]};
      std::copy_n(terms + v * x_.k, counts[v], terms_ + place);
    }
    return true;
  }

  // 32 vectors of x by those of a panel of y, from there on.
  void multiply_tile(std::int64_t x, std::int64_t y, const double* panel) const {
    alignas(64) double tile[strip_size][strip_size];  // [x][y]
    const std::int64_t xs = std::min<std::int64_t>(strip_size, x_.vectors - x),
                       ys = std::min<std::int64_t>(strip_size, y_.vectors - y);
    for (std::int64_t i = 0; i < xs; ++i)
      multiply_nonzeros_avx512(terms_ + lists_[x + i].begin, lists_[x + i].count, panel, tile[i]);
    const Output<double> to = rows_ ? to_.at(x, y) : to_.at(y, x);
    for (std::int64_t column = 0; column < (rows_ ? ys : xs); ++column)
      for (std::int64_t row = 0; row < (rows_ ? xs : ys); ++row) {
        double& c = *to.entry(row, column);
        c = updated(to.alpha, rows_ ? tile[row][column] : tile[column][row], to.beta, c);
      }
  }

  Output<double> to_;
  bool rows_;
  Operand<double> x_, y_;
  int threads_;
  std::int64_t room_;
  std::atomic<std::int64_t> used_ = 0;
  List* lists_ = nullptr;
  Nonzero *terms_ = nullptr, *scratch_ = nullptr;  // a thread's scratch: the terms of a strip, then a panel
};

// What a few elements tell of the operand that has fewer nonzeros.
struct Sample {
  bool in_rows = true;
  double seconds = std::numeric_limits<double>::infinity();

  Sample(const GemmProblem<double>& p, int threads) {
    static const bool supported = missing_features(InstructionSet::avx512_vnni).empty();
    if (!supported || p.a.k > most_k) return;
    const double rows = share_of_nonzeros(p.a), columns = share_of_nonzeros(p.b), share = std::min(rows, columns);
    in_rows = rows <= columns;
    const NonzeroProduct product(p, threads, in_rows);
    if (share < most_share) seconds = product.seconds(share * product.elements());
  }
};

}  // namespace

double nonzeros_seconds(const GemmProblem<double>& p, int threads) { return Sample(p, threads).seconds; }

bool multiply_nonzeros(const GemmProblem<double>& p, const NonzeroRequest& request, Progress& progress) {
  const Sample sample(p, request.threads);
  if (std::isinf(sample.seconds) || sample.seconds > request.seconds) return false;
  NonzeroProduct product(p, request.threads, sample.in_rows);
  Arena counted;
  product.carve(counted);
  if (counted.used() > request.bytes) return false;
  const Workspace workspace(counted.used(), request.memory);
  Arena arena = workspace.arena();
  product.carve(arena);
  if (!product.read() || product.seconds(product.nonzeros()) > request.seconds) return false;
  product.multiply(progress);
  progress.finish();
  return true;
}
#else
double nonzeros_seconds(const GemmProblem<double>&, int) { return std::numeric_limits<double>::infinity(); }
bool multiply_nonzeros(const GemmProblem<double>&, const NonzeroRequest&, Progress&) { return false; }
#endif

}  // namespace vernier
