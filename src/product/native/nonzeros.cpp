#include "product/native/nonzeros.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <bit>

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
constexpr double term = 0.09e-9;       // seconds of a core, of 32 entries 3.5 (an Emerald Rapids at work)
constexpr double element = 0.3e-9;     // likewise, to read one of either operand

// By 512 elements.
bool seems_sparse(const Operand<double>& x) {
  constexpr std::uint64_t looks = 512;
  std::int64_t nonzeros = 0;
  for (std::uint64_t look = 0; look < looks; ++look) {
    const std::uint64_t place = look * 0x9e3779b97f4a7c15;
    nonzeros += *x.at(static_cast<std::int64_t>(place % static_cast<std::uint64_t>(x.vectors)),
                      static_cast<std::int64_t>((place >> 32) % static_cast<std::uint64_t>(x.k))) != 0;
  }
  return static_cast<double>(nonzeros) < most_share * looks;
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
  if (!strip.k_contiguous) return;
  constexpr std::int64_t step = 16;
  for (std::int64_t l = 0; l < y.k; l += step)
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
        room_(static_cast<std::int64_t>(most_share * static_cast<double>(x_.vectors * x_.k))) {}

  void carve(Arena& arena) {
    const auto at = [](std::int64_t count) { return static_cast<std::size_t>(count); };
    lists_ = arena.take<Nonzeros>(at(x_.vectors));
    elements_ = arena.take<double>(at(room_));
    ks_ = arena.take<std::uint32_t>(at(room_));
    panels_ = arena.take<double>(at(threads_ * y_.k * strip_size));  // and elements of a strip before it is known
    thread_ks_ = arena.take<std::uint32_t>(at(threads_ * y_.k * strip_size));
  }

  // Lists of x's nonzeros, while y is looked through. False if there are too many, or y holds what is not finite.
  bool read() {
    std::atomic<bool> serves = true;
#pragma omp parallel num_threads(threads_)
    {
#pragma omp for schedule(dynamic, 1) nowait
      for (std::int64_t first = 0; first < x_.vectors; first += strip_size)
        if (serves.load(std::memory_order_relaxed) && !list_strip(first)) serves = false;
      const std::int64_t lines = y_.k_contiguous ? y_.vectors : y_.k, length = y_.k_contiguous ? y_.k : y_.vectors;
#pragma omp for schedule(dynamic, 16)
      for (std::int64_t line = 0; line < lines; ++line)
        if (serves.load(std::memory_order_relaxed) && !is_finite(y_.data + line * y_.ld, length)) serves = false;
    }
    return serves;
  }

  double seconds() const {
    const auto all = static_cast<double>((x_.vectors + y_.vectors) * x_.k);
    return (term * static_cast<double>(used_) * static_cast<double>(y_.vectors) + element * all) / threads_;
  }

  void multiply(Progress& progress) const {
#pragma omp parallel num_threads(threads_)
    {
      const FloatingEnvironment environment;
      double* panel = panels_ + omp_get_thread_num() * y_.k * strip_size;
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t first = 0; first < y_.vectors; first += strip_size) {
        progress.at(WorkShare{}.at(first, y_.vectors));
        fill_panel(y_, first, panel);
        for (std::int64_t i = 0; i < x_.vectors; i += strip_size) multiply_tile(i, first, panel);
      }
    }
  }

 private:
  bool list_strip(std::int64_t first) {
    const Operand<double> strip = strip_of(x_, first, 0, x_.k);
    const std::int64_t at = omp_get_thread_num() * x_.k * strip_size;
    std::int64_t counts[strip_size];
    take_nonzeros_avx512(strip, x_.k, panels_ + at, thread_ks_ + at, counts);
    std::int64_t all = 0;
    for (const std::int64_t count : counts) all += count;
    std::int64_t place = used_.fetch_add(all, std::memory_order_relaxed);
    if (place + all > room_) return false;
    for (std::int64_t v = 0; v < strip.vectors; place += counts[v++]) {
      std::copy_n(panels_ + at + v * x_.k, counts[v], elements_ + place);
      std::copy_n(thread_ks_ + at + v * x_.k, counts[v], ks_ + place);
      lists_[first + v] = {elements_ + place, ks_ + place, counts[v]};
    }
    return true;
  }

  // 32 vectors of x by those of a panel of y, from there on.
  void multiply_tile(std::int64_t x, std::int64_t y, const double* panel) const {
    alignas(64) double tile[strip_size][strip_size];  // [x][y]
    const std::int64_t xs = std::min<std::int64_t>(strip_size, x_.vectors - x),
                       ys = std::min<std::int64_t>(strip_size, y_.vectors - y);
    for (std::int64_t i = 0; i < xs; ++i) multiply_nonzeros_avx512(lists_[x + i], panel, tile[i]);
    const Output<double> to = rows_ ? to_.at(x, y) : to_.at(y, x);
    for (std::int64_t column = 0; column < (rows_ ? ys : xs); ++column)
      for (std::int64_t row = 0; row < (rows_ ? xs : ys); ++row) {
        double& c = *to.entry(row, column);
        c = updated(to.alpha, rows_ ? tile[row][column] : tile[column][row], to.beta, c);
      }
  }

  Output<double> to_;
  bool rows_;  // x is op(A)
  Operand<double> x_, y_;
  int threads_;
  std::int64_t room_;
  std::atomic<std::int64_t> used_ = 0;
  Nonzeros* lists_ = nullptr;
  double *elements_ = nullptr, *panels_ = nullptr;
  std::uint32_t *ks_ = nullptr, *thread_ks_ = nullptr;
};

}  // namespace

bool multiply_nonzeros(const GemmProblem<double>& p, const NonzeroRequest& request, Progress& progress) {
  static const bool supported = missing_features(InstructionSet::avx512_vnni).empty();
  if (!supported || p.a.k > most_k) return false;
  const bool rows = seems_sparse(p.a);
  if (!rows && !seems_sparse(p.b)) return false;
  NonzeroProduct product(p, request.threads, rows);
  Arena counted;
  product.carve(counted);
  if (counted.used() > request.bytes) return false;
  const Workspace workspace(counted.used(), request.memory);
  Arena arena = workspace.arena();
  product.carve(arena);
  if (!product.read() || product.seconds() > request.seconds) return false;
  product.multiply(progress);
  progress.finish();
  return true;
}
#else
bool multiply_nonzeros(const GemmProblem<double>&, const NonzeroRequest&, Progress&) { return false; }
#endif

}  // namespace vernier
