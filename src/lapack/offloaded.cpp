#include "lapack/offloaded.hpp"

#include <algorithm>

#include "base/instantiate.hpp"
#include "blas/offload/host_routine.hpp"
#include "number/complex.hpp"

namespace vernier {
namespace {

struct PivotedFactors {
  std::int64_t info = 0;
  std::vector<std::int64_t> pivots;
};

// A third of the cube, as the factorisation has two thirds of a product's operations.
ProductShape factored_shape(std::int64_t m, std::int64_t n) {
  return {m, n, std::max<std::int64_t>(1, std::min(m, n) / 3)};
}

// CUDA is not asked for anything where nobody asks for a GPU, or the CPU is faster by estimate.
bool may_leave(const Options& options) { return !options.contract.reproducible && asks_for_a_gpu(options); }

// Seconds of so many columns, in panels one after another, measured on an H100.
double panel_seconds(double of_each, std::int64_t columns) { return of_each * static_cast<double>(columns); }

// LAPACK's routines call nobody while they work.
Options quiet(const Options& options) {
  Options silent = options;
  silent.progress = {};
  return silent;
}

}  // namespace

template <class T>
std::optional<std::int64_t> offloaded_getrf(std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
                                            std::int64_t* pivots, const Options& options) {
  if constexpr (is_complex<T>) {
    return {};
  } else {
    const auto describe = [&] {
      HostRoutine<T> r{"getrf", factored_shape(m, n), {}, {}, {a, m, n, lda}, true};
      r.panels = panel_seconds(3.3e-6, std::min(m, n));
      r.available = cuda::has_factors<T>;
      return r;
    };
    const auto on_device = [&](const RoutineOperands<T>& x, void* stream) {
      PivotedFactors factors;
      factors.info = cuda::factor_for_the_host<T>(m, n, x.c, x.ldc, factors.pivots,
                                                  {.contract = options.contract, .stream = stream});
      return factors;
    };
    const auto on_cpu = [&](const Options& o) {
      PivotedFactors factors{0, std::vector<std::int64_t>(static_cast<std::size_t>(std::min(m, n)))};
      factors.info = getrf<T>(m, n, a, lda, factors.pivots.data(), o);
      return factors;
    };
    if (!may_leave(options)) return {};
    const auto done = offloaded_routine<T>(quiet(options), describe, on_device, on_cpu);
    if (!done) return {};
    std::copy(done->pivots.begin(), done->pivots.end(), pivots);
    return done->info;
  }
}

template <class T>
std::optional<std::int64_t> offloaded_potrf(Uplo uplo, std::int64_t n, T* a, std::int64_t lda, const Options& options) {
  if constexpr (is_complex<T>) {
    return {};
  } else {
    const auto describe = [&] {
      HostRoutine<T> r{"potrf", factored_shape(n, n), {}, {}, {a, n, n, lda}, true, uplo};
      r.share = 0.5;
      r.panels = panel_seconds(2.5e-6, n);
      r.available = cuda::has_factors<T>;
      return r;
    };
    const auto on_device = [&](const RoutineOperands<T>& x, void* stream) {
      return cuda::potrf<T>(uplo, n, x.c, x.ldc, {.contract = options.contract, .stream = stream});
    };
    const auto on_cpu = [&](const Options& o) { return potrf<T>(uplo, n, a, lda, o); };
    if (!may_leave(options)) return {};
    return offloaded_routine<T>(quiet(options), describe, on_device, on_cpu);
  }
}

template <class T>
std::optional<SolveReport> offloaded_solve(const SystemCall<T>& s, const SolveOptions& options) {
  if constexpr (is_complex<T>) {
    return {};
  } else {
    Options products = options.products;
    products.contract = options.contract.value_or(default_contract<T>());
    const auto describe = [&] {  // X comes up too: a singular A leaves it as it is
      HostRoutine<T> r{"solve",
                       factored_shape(s.n, s.n),
                       {s.a, s.n, s.n, s.lda},
                       {s.b, s.n, s.nrhs, s.ldb},
                       {s.x, s.n, s.nrhs, s.ldx},
                       true};
      r.copies = 3;  // the system, factors of fp32 and of fp64
      r.panels = 8e-3 + panel_seconds(6.5e-6, s.n);
      r.available = cuda::has_factors<double>;  // they may be wanted in the end
      return r;
    };
    const auto on_device = [&](const RoutineOperands<T>& on, void* stream) {
      return cuda::solve<T>(s.op, s.n, s.nrhs, on.a, on.lda, on.b, on.ldb, on.c, on.ldc, options, stream);
    };
    const auto on_cpu = [&](const Options& left) {
      SolveOptions o = options;
      o.products.device = left.device;
      return solve<T>(s.op, s.n, s.nrhs, s.a, s.lda, s.b, s.ldb, s.x, s.ldx, o);
    };
    if (!may_leave(products)) return {};
    return offloaded_routine<T>(products, describe, on_device, on_cpu);
  }
}

VERNIER_TYPE_INSTANCES(offloaded_getrf, offloaded_potrf, offloaded_solve)

}  // namespace vernier
