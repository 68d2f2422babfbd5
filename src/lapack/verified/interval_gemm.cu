// Products of interval matrices in device memory.
#include <algorithm>
#include <complex>
#include <type_traits>

#include "blas/quad/complex_operand.hpp"
#include "cuda/device.hpp"
#include "lapack/verified/interval_elements.cuh"
#include "lapack/verified/interval_products.hpp"
#include "lapack/verified/upward.hpp"
#include "product/arguments.hpp"
#include "product/device_memory.hpp"
#include "product/operand_blocks.hpp"
#include "vernier/cuda.hpp"
#include "vernier/verified.hpp"

namespace vernier::cuda {

// size: at least |mid|; grown: at least |mid| + rad. Complex: mid has pairs, ld of pairs.
template <bool Complex>
__global__ void __launch_bounds__(interval_threads)
    measure_discs(std::int64_t rows, std::int64_t columns, IntervalElements<const double> mid,
                  IntervalElements<const double> rad, double* size, double* grown, IntervalFacts* facts) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  const double* const z = mid.data + (Complex ? 2 : 1) * (e.i + e.j * mid.ld);
  const double x = z[0], y = Complex ? z[1] : 0, r = rad.data == nullptr ? 0 : rad.at(e.i, e.j);
  if (!finite(x) || !finite(y) || !(r >= 0) || !finite(r))
    atomicMin(&facts->bad, static_cast<unsigned long long>(e.at));
  if (r > 0) facts->wide = 1;
  size[e.at] = magnitude_above(x, y);
  grown[e.at] = sum_up(size[e.at], r);
}

__global__ void __launch_bounds__(interval_threads)
    check_ends(std::int64_t rows, std::int64_t columns, IntervalElements<const double> low,
               IntervalElements<const double> high, IntervalFacts* facts) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  const double a = low.at(e.i, e.j), b = high.at(e.i, e.j);
  if (!finite(a) || !finite(b) || a > b) atomicMin(&facts->bad, static_cast<unsigned long long>(e.at));
  if (a < b) facts->wide = 1;
}

// Ends in either order: those of -x are not turned round.
__global__ void __launch_bounds__(interval_threads)
    discs_of_ends(std::int64_t rows, std::int64_t columns, IntervalElements<const double> low,
                  IntervalElements<const double> high, double* mid, double* rad, double* size, double* grown) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  const double x = low.at(e.i, e.j), y = high.at(e.i, e.j), a = ::fmin(x, y), b = ::fmax(x, y);
  const double m = a == b ? x : a / 2 + b / 2;
  mid[e.at] = m;
  rad[e.at] = a == b ? 0 : ::fmax(sum_up(b, -m), sum_up(m, -a));
  size[e.at] = ::fabs(m);
  grown[e.at] = sum_up(::fabs(m), rad[e.at]);
}

// The sum of up to two products of nonnegative matrices that were rounded up.
struct RadiusTerms {
  const double *first = nullptr, *second = nullptr;

  __device__ double sum(std::int64_t at) const {
    const auto term = [&](const double* x) { return x == nullptr ? 0 : x[at] != x[at] ? infinity : x[at]; };
    return second == nullptr ? term(first) : first == nullptr ? term(second) : sum_up(term(first), term(second));
  }
};

// mid: rounded to nearest, without gaps; of complex numbers the parts in turn.
template <bool Complex>
__global__ void __launch_bounds__(interval_threads)
    finish_discs(std::int64_t rows, std::int64_t columns, const double* mid, RadiusTerms terms,
                 IntervalElements<double> c, IntervalElements<double> rad) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  if constexpr (Complex) {
    const double x = mid[2 * e.at], y = mid[2 * e.at + 1];
    double* const z = c.data + 2 * (e.i + e.j * c.ld);
    z[0] = x, z[1] = y;
    const double own = finite(x) && finite(y) ? magnitude_above(half_unit(x), half_unit(y)) : infinity;
    rad.at(e.i, e.j) = sum_up(own, terms.sum(e.at));
  } else {
    const double x = mid[e.at];
    c.at(e.i, e.j) = x;
    rad.at(e.i, e.j) = ::fabs(x) == infinity ? infinity : sum_up(half_unit(x), terms.sum(e.at));
  }
}

__global__ void __launch_bounds__(interval_threads)
    finish_ends(std::int64_t rows, std::int64_t columns, const double* down, const double* up, RadiusTerms terms,
                IntervalElements<double> low, IntervalElements<double> high) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  const bool wide = terms.first != nullptr || terms.second != nullptr;
  const double spread = wide ? terms.sum(e.at) : 0;
  low.at(e.i, e.j) = wide ? sum_down(down[e.at], -spread) : down[e.at];
  high.at(e.i, e.j) = wide ? sum_up(up[e.at], spread) : up[e.at];
}

namespace {

// An operand of real products: the matrices are of rows x columns, size and grown without gaps.
struct DeviceInterval {
  Op op = Op::none;
  std::int64_t rows = 0, columns = 0;
  IntervalElements<const double> mid, rad;
  double *size = nullptr, *grown = nullptr;
  bool wide = false;

  std::int64_t tight() const { return std::max<std::int64_t>(rows, 1); }
};

template <class T>
constexpr bool is_complex = !std::is_same_v<T, double>;

// What an operand is made of as the caller has it: centres and radii, or ends.
template <class T>
struct Stored {
  const char *routine, *name;
  Op op;
  std::int64_t rows, columns;  // of op(X)
  const T* first;
  const void* second;
  std::int64_t ld;

  std::int64_t stored(bool down) const { return (op == Op::none) == down ? rows : columns; }
};

class IntervalRun {
 public:
  IntervalRun(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options)
      : m_(m), n_(n), k_(k), options_(options), stream_(static_cast<cudaStream_t>(options.stream)) {}

  // Real and complex centres; what is multiplied then are real matrices. Throws where an element is no interval.
  template <class T>
  void discs(const Stored<T>& a, const Stored<T>& b, T* c, std::int64_t ldc, double* rad) {
    constexpr std::int64_t parts = is_complex<T> ? 2 : 1;
    const DeviceWorkspace memory(carve<T>(a, b, false), stream_);
    arena_ = memory.arena();
    DeviceInterval x = measured(a), y = measured(b);
    double* const mid = take(parts * m_ * n_);
    const Shape shape{real_op(a.op), real_op(b.op), m_, n_, k_};
    if constexpr (is_complex<T>) {
      const IntervalElements<const double> left = expanded(a, a.first, true), right = expanded(b, b.first, false);
      const Shape real{Op::none, Op::none, 2 * m_, n_, 2 * k_};
      multiply(real, left, right, mid, Rounding::nearest);
    } else {
      multiply(shape, x.mid, y.mid, mid, Rounding::nearest);
    }
    const RadiusTerms terms = radii(x, y, shape);
    launch_elements("finish_discs", finish_discs<is_complex<T>>, m_, n_, stream_, mid, terms,
                    IntervalElements<double>{reinterpret_cast<double*>(c), ldc}, IntervalElements<double>{rad, ldc});
    check(cudaStreamSynchronize(stream_), "interval product");
  }

  template <class T>
  void ends(const Stored<T>& a, const Stored<T>& b, T* low, T* high, std::int64_t ldc) {
    constexpr std::int64_t parts = is_complex<T> ? 2 : 1;
    const DeviceWorkspace memory(carve<T>(a, b, true), stream_);
    arena_ = memory.arena();
    const DeviceInterval x = from_ends(a, true), y = from_ends(b, false);
    const Shape shape{x.op, y.op, parts * m_, n_, parts * k_};
    double *const down = take(shape.m * n_), *const up = take(shape.m * n_);
    multiply(shape, x.mid, y.mid, down, Rounding::down);
    multiply(shape, x.mid, y.mid, up, Rounding::up);
    const RadiusTerms terms = radii(x, y, shape);
    launch_elements("finish_ends", finish_ends, shape.m, n_, stream_, down, up, terms,
                    IntervalElements<double>{reinterpret_cast<double*>(low), parts * ldc},
                    IntervalElements<double>{reinterpret_cast<double*>(high), parts * ldc});
    check(cudaStreamSynchronize(stream_), "interval product");
  }

 private:
  struct Shape {
    Op opa, opb;
    std::int64_t m, n, k;
  };

  static Op real_op(Op op) { return op == Op::none ? op : Op::transpose; }
  double* take(std::int64_t count) { return arena_.take<double>(static_cast<std::size_t>(count)); }

  // Bytes of all that is taken, in no order: results and radii, and of each operand.
  template <class T>
  std::size_t carve(const Stored<T>& a, const Stored<T>& b, bool ends) const {
    const std::int64_t parts = is_complex<T> ? 2 : 1;
    Arena arena;
    const auto add = [&](std::int64_t copies, std::int64_t count) {
      for (std::int64_t c = 0; c < copies; ++c) arena.take<double>(static_cast<std::size_t>(count));
    };
    add(4, parts * m_ * n_);
    for (const auto& [x, left] : {std::pair{&a, true}, {&b, false}}) {
      const std::int64_t own = x->rows * x->columns, all = is_complex<T> ? (left ? 4 : 2) * own : own;
      if (ends)
        add(4, all), add(is_complex<T> ? 2 : 0, all);
      else
        add(2, own), add(is_complex<T> ? 1 : 0, all);
      add(1, 2);  // facts
    }
    return arena.used();
  }

  template <class T>
  DeviceInterval measured(const Stored<T>& x) {
    DeviceInterval d{x.op, x.stored(true), x.stored(false), {}, {}};
    d.mid = {reinterpret_cast<const double*>(x.first), x.ld}, d.rad = {static_cast<const double*>(x.second), x.ld};
    d.size = take(d.rows * d.columns), d.grown = take(d.rows * d.columns);
    IntervalFacts* const facts = fresh_facts();
    launch_elements("measure_discs", measure_discs<is_complex<T>>, d.rows, d.columns, stream_, d.mid, d.rad, d.size,
                    d.grown, facts);
    const IntervalFacts found = on_host(facts, 1, stream_)[0];
    if (found.bad != ~0ull) refuse_disc(x, d.rows, static_cast<std::int64_t>(found.bad));
    d.wide = found.wide != 0;
    return d;
  }

  template <class T>
  DeviceInterval from_ends(const Stored<T>& x, bool left) {
    constexpr std::int64_t parts = is_complex<T> ? 2 : 1;
    const std::int64_t rows = parts * x.stored(true), columns = x.stored(false);
    IntervalElements<const double> low{reinterpret_cast<const double*>(x.first), parts * x.ld},
        high{static_cast<const double*>(x.second), parts * x.ld};
    IntervalFacts* const facts = fresh_facts();
    launch_elements("check_ends", check_ends, rows, columns, stream_, low, high, facts);
    const IntervalFacts found = on_host(facts, 1, stream_)[0];
    if (found.bad != ~0ull) refuse_ends(x, low, high, rows, static_cast<std::int64_t>(found.bad));
    DeviceInterval d{x.op, rows, columns, {}, {}};
    if constexpr (is_complex<T>) {
      low = expanded(x, x.first, left), high = expanded(x, static_cast<const T*>(x.second), left);
      d.op = Op::none, d.rows = 2 * x.rows, d.columns = (left ? 2 : 1) * x.columns;
    }
    const std::int64_t count = d.rows * d.columns;
    double *const mid = take(count), *const rad = take(count);
    d.size = take(count), d.grown = take(count);
    launch_elements("discs_of_ends", discs_of_ends, d.rows, d.columns, stream_, low, high, mid, rad, d.size, d.grown);
    d.mid = {mid, d.tight()}, d.rad = {rad, d.tight()};
    d.wide = found.wide != 0;
    return d;
  }

  template <class T>
  IntervalElements<const double> expanded(const Stored<T>& x, const T* from, bool left) {
    double* const out = take((left ? 4 : 2) * x.rows * x.columns);
    if (x.rows > 0 && x.columns > 0)
      expand_complex_on_device(complex_operand(x.op, x.rows, x.columns, from, x.ld), left, out, stream_);
    return {out, std::max<std::int64_t>(2 * x.rows, 1)};
  }

  IntervalFacts* fresh_facts() {
    static_assert(sizeof(IntervalFacts) == 2 * sizeof(double));
    auto* const facts = reinterpret_cast<IntervalFacts*>(take(2));
    to_device(facts, std::vector<IntervalFacts>{{~0ull, 0}}, stream_);
    return facts;
  }

  double element(const double* x) const { return on_host(x, 1, stream_)[0]; }

  template <class T>
  void refuse_disc(const Stored<T>& x, std::int64_t rows, std::int64_t at) const {
    constexpr std::int64_t parts = is_complex<T> ? 2 : 1;
    const std::int64_t i = at % rows, j = at / rows;
    for (std::int64_t p = 0; p < parts; ++p)
      check_finite_entry(x.routine, x.name,
                         element(reinterpret_cast<const double*>(x.first) + parts * (i + j * x.ld) + p), i, j);
    check_radius(x.routine, x.name, element(static_cast<const double*>(x.second) + i + j * x.ld), i, j);
  }
  template <class T>
  void refuse_ends(const Stored<T>& x, IntervalElements<const double> low, IntervalElements<const double> high,
                   std::int64_t rows, std::int64_t at) const {
    const std::int64_t i = at % rows, j = at / rows;
    by_ends(x.routine, x.name, element(low.data + i + j * low.ld), element(high.data + i + j * high.ld),
            is_complex<T> ? i / 2 : i, j);
  }

  void multiply(const Shape& s, IntervalElements<const double> a, IntervalElements<const double> b, double* c,
                Rounding rounding) const {
    Options exact{.contract = Contract::exact(rounding), .engine = options_.engine, .stream = options_.stream};
    exact.workspace_limit = options_.workspace_limit;
    const double one = 1, zero = 0;
    gemm(s.opa, s.opb, s.m, s.n, s.k, &one, a.data, a.ld, b.data, b.ld, &zero, c, std::max<std::int64_t>(s.m, 1),
         exact);
  }

  // |A| Brad and Arad (|B| + Brad), each rounded up.
  RadiusTerms radii(const DeviceInterval& a, const DeviceInterval& b, const Shape& s) {
    RadiusTerms terms;
    const auto product = [&](IntervalElements<const double> x, IntervalElements<const double> y) {
      double* const c = take(s.m * s.n);
      multiply(s, x, y, c, Rounding::up);
      return c;
    };
    if (b.wide) terms.first = product({a.size, a.tight()}, b.rad);
    if (a.wide) terms.second = product(a.rad, {b.grown, b.tight()});
    return terms;
  }

  const std::int64_t m_, n_, k_;
  const Options& options_;
  const cudaStream_t stream_;
  Arena arena_;
};

IntervalShape shape_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  static const vernier::Options unused;
  return {m, n, k, unused};
}

}  // namespace

template <class T>
void interval_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* Amid, const double* Arad,
                   std::int64_t lda, const T* Bmid, const double* Brad, std::int64_t ldb, T* Cmid, double* Crad,
                   std::int64_t ldc, const Options& options) {
  constexpr const char* routine = "interval_gemm";
  check_interval_arguments(routine, opa, opb, shape_of(m, n, k), {Amid, Bmid, Cmid, Crad}, lda, ldb, ldc);
  IntervalRun(m, n, k, options)
      .discs<T>({routine, "A", opa, m, k, Amid, Arad, lda}, {routine, "B", opb, k, n, Bmid, Brad, ldb}, Cmid, ldc,
                Crad);
}

template <class T>
void interval_gemm_ends(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* Alow, const T* Ahigh,
                        std::int64_t lda, const T* Blow, const T* Bhigh, std::int64_t ldb, T* Clow, T* Chigh,
                        std::int64_t ldc, const Options& options) {
  constexpr const char* routine = "interval_gemm_ends";
  check_interval_arguments(routine, opa, opb, shape_of(m, n, k), {Alow, Blow, Clow, Chigh, Ahigh, Bhigh}, lda, ldb,
                           ldc);
  IntervalRun(m, n, k, options)
      .ends<T>({routine, "A", opa, m, k, Alow, Ahigh, lda}, {routine, "B", opb, k, n, Blow, Bhigh, ldb}, Clow, Chigh,
               ldc);
}

VERNIER_INTERVAL_PRODUCTS(double)
VERNIER_INTERVAL_PRODUCTS(std::complex<double>)

}  // namespace vernier::cuda
