#include "refused_calls.hpp"

#include <complex>
#include <cstdint>
#include <numeric>

#include "vernier/lapack.hpp"
#include "vernier/prepared.hpp"
#include "vernier/quad.hpp"
#include "vernier/slices.hpp"
#include "vernier/vernier_distributed.h"
#include "vernier/vernier_quad.h"

namespace vernier::test {
namespace {

constexpr std::int64_t n = 72, few = 5, area = n * n;
constexpr auto N = static_cast<vernier_op>('N');
constexpr Op none = Op::none;
constexpr double one = 1, two = 2;
using Z = std::complex<double>;

// Small integers, symmetric, with a diagonal that makes the matrix definite; `parts` numbers an entry.
std::vector<double> matrix(unsigned seed, std::int64_t parts = 1) {
  std::vector<double> x(static_cast<std::size_t>(parts * area));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i <= j; ++i) {
      seed = seed * 1664525u + 1013904223u;
      const double value = i == j ? 1024 : static_cast<int>(seed >> 29) - 4;
      x[static_cast<std::size_t>(parts * (i + j * n))] = x[static_cast<std::size_t>(parts * (j + i * n))] = value;
    }
  return x;
}

const std::vector<double> a = matrix(1), b = matrix(2), a2 = matrix(3, 2), b2 = matrix(4, 2);

template <class T>
const T* as(const std::vector<double>& x) {
  return reinterpret_cast<const T*>(x.data());
}

// A destroyer for what a call makes on its way.
template <class H>
struct Made {
  H handle = nullptr;
  vernier_status (*destroy)(H) = nullptr;
  ~Made() { (void)destroy(handle); }
};

vernier_status prepared(vernier_handle h, double* out, vernier_side side) {
  Made<vernier_prepared> x{nullptr, vernier_destroy_prepared};
  const vernier_status status = vernier_prepare(h, VERNIER_D, side, N, n, n, a.data(), n, &x.handle);
  if (status != VERNIER_SUCCESS) return status;
  return side == static_cast<vernier_side>('L')
             ? vernier_gemm_prepared_left(h, x.handle, N, n, n, n, &one, b.data(), n, &two, out, n)
             : vernier_gemm_prepared_right(h, N, x.handle, n, n, n, &one, b.data(), n, &two, out, n);
}

// One party with all of A, B and C. A function that finds no memory is called again where `again` says so: it has
// changed nothing then.
class Party {
 public:
  Party(vernier_handle h, bool again) : handle_(h), again_(again) { std::iota(all_.begin(), all_.end(), 0); }

  vernier_status run(double* out) {
    Made<vernier_distributed> product{nullptr, vernier_distributed_destroy};
    vernier_distributed& p = product.handle;
    const vernier_part left = part(a.data()), right = part(b.data()), c = part(out);
    step([&] { return vernier_distributed_create(handle_, VERNIER_D, N, N, n, n, n, &p); });
    while (status_ == VERNIER_SUCCESS && vernier_distributed_scanning(p) == 1) {
      step([&] { return vernier_distributed_scan(p, static_cast<vernier_side>('L'), &left); });
      step([&] { return vernier_distributed_scan(p, static_cast<vernier_side>('R'), &right); });
      step([&] { return vernier_distributed_combine(p); });
    }
    if (status_ != VERNIER_SUCCESS) return status_;
    sums_.assign(static_cast<std::size_t>(area) * vernier_distributed_element_bytes(p, 0), 0);
    step([&] { return vernier_distributed_partial(p, 0, &left, &right, sums_.data(), n); });
    const void* passes[] = {sums_.data()};
    step([&] { return vernier_distributed_finish(p, passes, n, &one, &two, &c); });
    return status_;
  }

 private:
  template <class Call>
  void step(Call call) {
    if (status_ != VERNIER_SUCCESS) return;
    status_ = call();
    if (status_ == VERNIER_OUT_OF_MEMORY && again_) status_ = call();
  }
  vernier_part part(const double* x) const { return {x, n, all_.data(), n, all_.data(), n}; }

  vernier_handle handle_;
  bool again_;
  vernier_status status_ = VERNIER_SUCCESS;
  std::vector<std::int64_t> all_ = std::vector<std::int64_t>(n);
  std::vector<unsigned char> sums_ = std::vector<unsigned char>(static_cast<std::size_t>(area) * 64);
};

vernier_status success(std::int64_t info) { return info == 0 ? VERNIER_SUCCESS : VERNIER_INTERNAL_ERROR; }

std::vector<RefusedCall> calls_of_c() {
  return {
      {"quad_gemm", 1,
       [](vernier_handle h, double* out) {
         return vernier_quad_gemm(h, nullptr, N, N, n, n, n, 2, as<vernier_dd>(a2), n, as<vernier_dd>(b2), n, 3,
                                  reinterpret_cast<vernier_dd*>(out), n);
       }},
      {"quad_gemm_of_doubles, exact", 1,
       [](vernier_handle h, double* out) {
         return vernier_quad_gemm_of_doubles(h, "exact", N, N, n, n, n, 2, a.data(), n, b.data(), n, 3,
                                             reinterpret_cast<vernier_dd*>(out), n);
       }},
      {"quad_solve", 1,
       [](vernier_handle h, double* out) {
         return vernier_quad_solve(h, n, few, a.data(), n, b.data(), n, reinterpret_cast<vernier_dd*>(out), n,
                                   out + 2 * area);
       }},
      {"interval_gemm", 1,
       [](vernier_handle h, double* out) {
         return vernier_interval_gemm(h, N, N, n, n, n, a.data(), nullptr, n, b.data(), nullptr, n, out, out + area, n);
       }},
      {"interval_gemm_ends", 1,
       [](vernier_handle h, double* out) {
         return vernier_interval_gemm_ends(h, N, N, n, n, n, a.data(), a.data(), n, b.data(), b.data(), n, out,
                                           out + area, n);
       }},
      {"interval_zgemm", 1,
       [](vernier_handle h, double* out) {
         return vernier_interval_zgemm(h, N, N, n, n, n, a2.data(), nullptr, n, b2.data(), nullptr, n, out,
                                       out + 2 * area, n);
       }},
      {"interval_zgemm_ends", 1,
       [](vernier_handle h, double* out) {
         return vernier_interval_zgemm_ends(h, N, N, n, n, n, a2.data(), a2.data(), n, b2.data(), b2.data(), n, out,
                                            out + 2 * area, n);
       }},
      {"verified_solve", 1,
       [](vernier_handle h, double* out) {
         return vernier_verified_solve(h, n, few, a.data(), n, b.data(), n, out, out + area, n);
       }},
      {"verified_inverse", 1,
       [](vernier_handle h, double* out) { return vernier_verified_inverse(h, n, a.data(), n, out, out + area, n); }},
      {"verified_determinant", 1,
       [](vernier_handle h, double* out) {
         return vernier_verified_determinant(h, n, a.data(), n, out, reinterpret_cast<std::int64_t*>(out + 2));
       }},
      {"verified_definite", 1,
       [](vernier_handle h, double* out) { return vernier_verified_definite(h, n, a.data(), n, out); }},
      {"prepared left", 1,
       [](vernier_handle h, double* out) { return prepared(h, out, static_cast<vernier_side>('L')); }},
      {"prepared right", 1,
       [](vernier_handle h, double* out) { return prepared(h, out, static_cast<vernier_side>('R')); }},
      {"strided batch", 4,
       [](vernier_handle h, double* out) {
         return vernier_gemm_strided_batched(h, VERNIER_D, N, N, n, n, n, &one, a.data(), n, 0, b.data(), n, 0, &two,
                                             out, n, area, 4);
       }},
      {"distributed", 1, [](vernier_handle h, double* out) { return Party(h, false).run(out); }},
      {"distributed, again", 1, [](vernier_handle h, double* out) { return Party(h, true).run(out); }},
  };
}

// Those that the C interface lacks; they throw.
std::vector<RefusedCall> calls_of_cpp() {
  const auto slices = [](const char* engine, SliceMode mode) {
    return [=](vernier_handle, double* out) {
      (void)gemm_by_slices<double>(none, none, n, n, n, 2, a.data(), n, b.data(), n, 3, out, n,
                                   {.mode = mode, .engine = engine});
      return VERNIER_SUCCESS;
    };
  };
  const auto dds = [](double* out) { return reinterpret_cast<dd*>(out); };
  const auto complex = [](double* out) { return reinterpret_cast<Z*>(out); };
  // Of these the output begins as a matrix that has factors.
  return {{"slices, blas", 1, slices("blas", SliceMode::working_precision)},
          {"slices, rounded once", 1, slices("volta-fp16-fp32", SliceMode::correctly_rounded)},
          {"quad_syrk", 1,
           [=](vernier_handle, double* out) {
             quad_syrk<dd>(Uplo::lower, none, n, n, 2, as<dd>(a2), n, 3, dds(out), n);
             return VERNIER_SUCCESS;
           }},
          {"quad_trsm", 1,
           [=](vernier_handle, double* out) {
             quad_trsm<dd>(Side::right, Uplo::upper, none, Diag::non_unit, n, n, 2, as<dd>(a2), n, dds(out), n);
             return VERNIER_SUCCESS;
           }},
          {"quad_getrf", 1,
           [=](vernier_handle, double* out) {
             std::int64_t pivots[n];
             return success(quad_getrf<dd>(n, n, dds(out), n, pivots));
           }},
          {"quad_potrf", 1,
           [=](vernier_handle, double* out) { return success(quad_potrf<dd>(Uplo::lower, n, dds(out), n)); }},
          {"quad_gesv", 1,
           [=](vernier_handle, double* out) {
             std::int64_t pivots[n];
             return success(quad_gesv<dd>(n, few, dds(out), n, pivots, dds(out) + area, n));
           }},
          {"complex gesv", 1,
           [=](vernier_handle, double* out) {
             std::int64_t pivots[n];
             return success(gesv<Z>(n, few, complex(out), n, pivots, complex(out) + area, n));
           }},
          {"complex posv", 1,
           [=](vernier_handle, double* out) {
             return success(posv<Z>(Uplo::lower, n, few, complex(out), n, complex(out) + area, n));
           }},
          {"complex solve", 1, [=](vernier_handle, double* out) {
             (void)solve<Z>(none, n, few, as<Z>(a2), n, as<Z>(b2), n, complex(out), n);
             return VERNIER_SUCCESS;
           }}};
}

}  // namespace

std::vector<RefusedCall> refused_calls() {
  std::vector<RefusedCall> all = calls_of_c();
  for (RefusedCall& call : calls_of_cpp()) all.push_back(std::move(call));
  return all;
}

}  // namespace vernier::test
