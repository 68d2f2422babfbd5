// Routines on a GPU whose memory tests/gpu/refused_memory_test.cpp refuses.
#pragma once

#include <complex>
#include <functional>
#include <vector>

#include "blas/array.hpp"
#include "cuda/device.hpp"
#include "vernier/cuda_lapack.hpp"
#include "vernier/cuda_level3.hpp"
#include "vernier/distributed.hpp"
#include "vernier/prepared.hpp"
#include "vernier/quad.hpp"
#include "vernier/slices.hpp"
#include "vernier/verified.hpp"

namespace vernier::test::refused_on_gpu {

inline constexpr std::int64_t n = 512, few = 5, area = n * n;
inline constexpr Op none = Op::none;
inline constexpr auto most_bytes = static_cast<std::size_t>(area) * 2 * sizeof(double);  // complex numbers, or dd

// Device memory of a call, of T; c and d are what is written.
template <class T>
struct Memory {
  T *a, *b, *c, *d;
  std::int64_t* pivots;
  const T* const* addresses;  // of four matrices of half the order in a, in b and in c
  void* stream;
};

template <class T>
struct Routine {
  const char* name;
  std::function<void(const Memory<T>&, cuda::Options)> run;
};

// A part of a matrix that is the whole.
template <class T>
struct Whole {
  explicit Whole(T* x) : part{x, n, list.data(), n, list.data(), n} {}
  std::vector<std::int64_t> list = [] {
    std::vector<std::int64_t> all(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    return all;
  }();
  MatrixPart<T> part;
};

inline void distributed(const Memory<double>& x, const cuda::Options& o) {
  Options options{.contract = o.contract};
  options.contract.reproducible = true;
  DistributedProduct<double> product(none, none, n, n, n, options, DeviceMemory{o.stream});
  const Whole<const double> a(x.a), b(x.b);
  const Whole<double> c(x.c);
  while (product.scanning()) {
    product.scan(Side::left, a.part);
    product.scan(Side::right, b.part);
    product.combine();
  }
  const cuda::DeviceBuffer<std::byte> elements(static_cast<std::size_t>(area) * product.element_bytes(0));
  cuda::check(cudaMemset(elements.data(), 0, elements.bytes()), "cudaMemset");
  cuda::check(cudaDeviceSynchronize(), "cudaMemset");
  product.partial(0, a.part, b.part, elements.data(), n);
  const std::byte* passes[] = {elements.data()};
  product.finish(passes, n, 2, 3, c.part);
}

template <class T>
std::vector<Routine<T>> products() {
  using M = const Memory<T>&;
  using O = const cuda::Options&;
  const T alpha = 2, beta = 3;
  std::vector<Routine<T>> list{
      {"gemm", [=](M x, O o) { cuda::gemm<T>(none, none, n, n, n, alpha, x.a, n, x.b, n, beta, x.c, n, o); }},
      {"gemm, asynchronous",
       [=](M x, cuda::Options o) {
         o.asynchronous = true;
         const cuda::DeviceBuffer<cuda::Outcome> left(1);
         o.outcome = left.data();
         cuda::gemm<T>(none, none, n, n, n, alpha, x.a, n, x.b, n, beta, x.c, n, o);
         cuda::check(cudaStreamSynchronize(static_cast<cudaStream_t>(o.stream)), "gemm");
       }},
      {"gemm of nothing",
       [=](M x, O o) { cuda::gemm<T>(none, none, n, n, 0, alpha, x.a, n, x.b, n, beta, x.c, n, o); }},
      {"gemmt",
       [=](M x, O o) { cuda::gemmt<T>(Uplo::lower, none, none, n, n, alpha, x.a, n, x.b, n, beta, x.c, n, o); }},
      {"symm", [=](M x, O o) { cuda::symm<T>(Side::left, Uplo::lower, n, n, alpha, x.a, n, x.b, n, beta, x.c, n, o); }},
      {"syrk", [=](M x, O o) { cuda::syrk<T>(Uplo::lower, none, n, n, alpha, x.a, n, beta, x.c, n, o); }},
      {"syr2k", [=](M x, O o) { cuda::syr2k<T>(Uplo::upper, none, n, n, alpha, x.a, n, x.b, n, beta, x.c, n, o); }},
      {"syrkx", [=](M x, O o) { cuda::syrkx<T>(Uplo::upper, none, n, n, alpha, x.a, n, x.a, n, beta, x.c, n, o); }},
  };
  if constexpr (is_complex_type<T>) {
    using R = Real<T>;
    list.push_back({"hemm", [=](M x, O o) {
                      cuda::hemm<T>(Side::right, Uplo::upper, n, n, alpha, x.a, n, x.b, n, beta, x.c, n, o);
                    }});
    list.push_back({"herk", [=](M x, O o) { cuda::herk<T>(Uplo::upper, none, n, n, R{2}, x.a, n, R{3}, x.c, n, o); }});
    list.push_back(
        {"her2k", [=](M x, O o) { cuda::her2k<T>(Uplo::lower, none, n, n, alpha, x.a, n, x.b, n, R{3}, x.c, n, o); }});
  }
  return list;
}

// Those that no reproducible contract has on a GPU.
template <class T>
std::vector<Routine<T>> triangular() {
  using M = const Memory<T>&;
  using O = const cuda::Options&;
  return {{"trmm",
           [](M x, O o) {
             cuda::trmm<T>(Side::left, Uplo::lower, none, Diag::unit, n, n, T(2), x.a, n, x.b, n, x.c, n, o);
           }},
          {"trsm", [](M x, O o) {
             cuda::trsm<T>(Side::right, Uplo::upper, none, Diag::non_unit, n, n, T(2), x.a, n, x.c, n, o);
           }}};
}

template <class T>
std::vector<Routine<T>> batches_and_prepared() {
  using M = const Memory<T>&;
  using O = const cuda::Options&;
  constexpr std::int64_t half = n / 2, apart = half * half;
  const auto prepared = [](M x, O o, Side side) {
    return cuda::PreparedOperand<T>(side, none, n, n, side == Side::left ? x.a : x.b, n, o);
  };
  return {{"strided batch",
           [=](M x, O o) {
             cuda::gemm_strided_batched<T>(none, none, half, half, half, T(2), x.a, half, apart, x.b, half, apart, T(3),
                                           x.c, half, apart, 4, o);
           }},
          {"batch",
           [=](M x, O o) {
             cuda::gemm_batched<T>(none, none, half, half, half, T(2), x.addresses, half, x.addresses + 4, half, T(3),
                                   const_cast<T* const*>(x.addresses) + 8, half, 4, o);
           }},
          {"prepared left",
           [=](M x, O o) { cuda::gemm<T>(prepared(x, o, Side::left), none, n, n, n, T(2), x.b, n, T(3), x.c, n, o); }},
          {"prepared right",
           [=](M x, O o) { cuda::gemm<T>(none, prepared(x, o, Side::right), n, n, n, T(2), x.a, n, T(3), x.c, n, o); }},
          {"prepared both", [=](M x, O o) {
             const auto left = prepared(x, o, Side::left), right = prepared(x, o, Side::right);
             cuda::gemm<T>(left, right, n, n, n, T(2), T(3), x.c, n, o);
             cuda::check(cudaStreamSynchronize(static_cast<cudaStream_t>(o.stream)), "prepared");
           }}};
}

template <class T>
std::vector<Routine<T>> slices() {
  const auto by = [](const char* engine, SliceMode mode, std::int64_t block) {
    return [=](const Memory<T>& x, const cuda::Options& o) {
      (void)cuda::gemm_by_slices<T>(none, none, n, n, n, 2, x.a, n, x.b, n, 3, x.c, n,
                                    {.mode = mode, .engine = engine, .block = block}, o.stream);
    };
  };
  return {{"slices of fp16", by("cublas-fp16", SliceMode::working_precision, 0)},
          {"slices of int8, rounded once, in blocks", by("cublas-int8", SliceMode::correctly_rounded, n / 2)}};
}

template <class T>
std::vector<Routine<T>> factorisations() {
  using M = const Memory<T>&;
  using O = const cuda::Options&;
  return {
      {"getrf", [](M x, O o) { (void)cuda::getrf<T>(n, n, x.c, n, x.pivots, o); }},
      {"gesv", [](M x, O o) { (void)cuda::gesv<T>(n, few, x.c, n, x.pivots, x.d, n, o); }},
      {"getrs", [](M x, O o) { cuda::getrs<T>(none, n, few, x.a, n, x.pivots, x.d, n, o); }},
      {"potrf", [](M x, O o) { (void)cuda::potrf<T>(Uplo::lower, n, x.c, n, o); }},
      {"posv", [](M x, O o) { (void)cuda::posv<T>(Uplo::upper, n, few, x.c, n, x.d, n, o); }},
      {"potrs", [](M x, O o) { cuda::potrs<T>(Uplo::lower, n, few, x.a, n, x.d, n, o); }},
      {"solve", [](M x, O o) { (void)cuda::solve<T>(none, n, few, x.a, n, x.b, n, x.c, n, SolveOptions{}, o.stream); }},
      {"solve_definite", [](M x, O o) {
         (void)cuda::solve_definite<T>(Uplo::lower, n, few, x.a, n, x.b, n, x.c, n, SolveOptions{}, o.stream);
       }}};
}

// Of the leading part of matrices whose elements are two numbers.
inline std::vector<Routine<double>> factors_in_dd() {
  using M = const Memory<double>&;
  using O = const cuda::Options&;
  constexpr std::int64_t order = n / 4;
  return {{"quad_gesv",
           [](M x, O o) {
             (void)cuda::quad_gesv<dd>(order, few, reinterpret_cast<dd*>(x.c), n, x.pivots, reinterpret_cast<dd*>(x.d),
                                       n, {.stream = o.stream});
           }},
          {"quad_potrf", [](M x, O o) {
             (void)cuda::quad_potrf<dd>(Uplo::lower, order, reinterpret_cast<dd*>(x.c), n, {.stream = o.stream});
           }}};
}

inline std::vector<Routine<double>> beyond_double() {
  using M = const Memory<double>&;
  using O = const cuda::Options&;
  const auto quad = [](M x, O o, const char* contract) {
    cuda::quad_gemm<double, double, dd>(none, none, n, n, n, 2, x.a, n, x.b, n, 3, reinterpret_cast<dd*>(x.c), n,
                                        {.contract = QuadContract::parse(contract), .stream = o.stream});
  };
  return {{"quad_gemm", [=](M x, O o) { quad(x, o, "dd"); }},
          {"quad_gemm, exact", [=](M x, O o) { quad(x, o, "exact"); }},
          {"quad_solve",
           [](M x, O o) {
             (void)cuda::quad_solve<double>(n, few, x.a, n, x.b, n, reinterpret_cast<dd*>(x.c), n,
                                            {.stream = o.stream});
           }},
          {"interval_gemm",
           [](M x, O o) {
             cuda::interval_gemm<double>(none, none, n, n, n, x.a, nullptr, n, x.b, nullptr, n, x.c, x.d, n, o);
           }},
          {"interval_gemm_ends",
           [](M x, O o) {
             cuda::interval_gemm_ends<double>(none, none, n, n, n, x.a, x.a, n, x.b, x.b, n, x.c, x.d, n, o);
           }},
          {"complex interval_gemm",
           [](M x, O o) {
             using Z = std::complex<double>;
             cuda::interval_gemm<Z>(none, none, n / 2, n / 2, n / 2, reinterpret_cast<const Z*>(x.a), nullptr, n / 2,
                                    reinterpret_cast<const Z*>(x.b), nullptr, n / 2, reinterpret_cast<Z*>(x.c), x.d,
                                    n / 2, o);
           }},
          {"verified_solve", [](M x, O o) { (void)cuda::verified_solve(n, few, x.a, n, x.b, n, x.c, x.d, n, o); }},
          {"distributed", distributed}};
}

}  // namespace vernier::test::refused_on_gpu
