// vernier-gpu-solve-bench: linear systems on a GPU beside cuSOLVER's, in one process and in turns: one JSON object a
// line.
//
//     vernier-gpu-solve-bench [--runs 5] [--no-factors] [--no-peers] [--definite] [--verified [--condition 1e10]]
//         [--factor NAME] N ...
//
// A and b are uniform in [-1, 1); of --definite, A is made symmetric and 2 n is added to its diagonal; of --condition,
// A has singular values evenly spaced in their logarithms. Times are
// medians, from A and b in device memory to x there; backward errors are max |b - A x| / (|A|_inf max |x| + max |b|)
// with residuals in twice the precision of fp64, measured alike for all. --factor: solve alone with factors of that
// precision, without a fallback; the memory is what the library has then taken from the device.
#include <cuda_runtime.h>
#include <cusolverDn.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "linear_system.cuh"
#include "program.hpp"
#include "vernier/cuda_lapack.hpp"
#include "vernier/verified.hpp"

namespace {

using namespace vernier::bench;

using bench::check;

struct Peer {
  void* library = nullptr;
  cusolverDnHandle_t handle = nullptr;

  Peer() {
    for (const char* name : {"libcusolver.so.12", "libcusolver.so.11"})
      if (library == nullptr) library = dlopen(name, RTLD_LAZY);
    if (library == nullptr) throw std::runtime_error(dlerror());
    expect(function<decltype(&cusolverDnCreate)>("cusolverDnCreate")(&handle), "cusolverDnCreate");
  }
  template <class F>
  F function(const char* name) const {
    void* found = dlsym(library, name);
    if (found == nullptr) throw std::runtime_error(std::string("no ") + name);
    return reinterpret_cast<F>(found);
  }
  static void expect(cusolverStatus_t status, const char* what) {
    if (status != CUSOLVER_STATUS_SUCCESS)
      throw std::runtime_error(std::string(what) + ": status " + std::to_string(status));
  }
};

#define PEER(peer, name, ...) Peer::expect(peer.function<decltype(&name)>(#name)(peer.handle, __VA_ARGS__), #name)

// 0: nobody was timed.
double median(const std::vector<double>& x) { return x.empty() ? 0 : bench::median(x); }

template <class Body>
double seconds(Body body) {
  check(cudaDeviceSynchronize(), "before");
  const auto start = std::chrono::steady_clock::now();
  body();
  check(cudaDeviceSynchronize(), "run");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Settings {
  int runs = 5;
  double condition = 0;  // 0: none is asked for
  bool factors = true, peers = true, definite = false, verified = false;
};

struct PeerTimes {
  std::vector<double> solver, factors, mixed;
  double solver_error = 0, mixed_error = 0;
  int iterations = 0;
};

void run_peer(const Peer& peer, System& s, PeerTimes& t) {
  int words = 0;
  PEER(peer, cusolverDnDgetrf_bufferSize, s.n, s.n, s.lu, s.n, &words);
  double* work = device_array(static_cast<std::size_t>(words));
  s.copy_matrix();
  check(cudaMemcpy(s.x, s.b, sizeof(double) * s.n, cudaMemcpyDeviceToDevice), "copy");
  const double factors =
      seconds([&] { PEER(peer, cusolverDnDgetrf, s.n, s.n, s.lu, s.n, work, s.int_pivots, s.info); });
  const double solve =
      seconds([&] { PEER(peer, cusolverDnDgetrs, CUBLAS_OP_N, s.n, 1, s.lu, s.n, s.int_pivots, s.x, s.n, s.info); });
  t.factors.push_back(factors);
  t.solver.push_back(factors + solve);
  if (t.solver_error == 0) t.solver_error = s.backward_error();
  check(cudaFree(work), "free");
}

void run_mixed_peer(const Peer& peer, System& s, PeerTimes& t) {
  std::size_t bytes = 0;
  PEER(peer, cusolverDnDHgesv_bufferSize, s.n, 1, s.lu, s.n, s.int_pivots, s.b, s.n, s.x, s.n, nullptr, &bytes);
  double* work = device_array(bytes / sizeof(double) + 1);
  s.copy_matrix();
  t.mixed.push_back(seconds([&] {
    PEER(peer, cusolverDnDHgesv, s.n, 1, s.lu, s.n, s.int_pivots, s.b, s.n, s.x, s.n, work, bytes, &t.iterations,
         s.info);
  }));
  if (t.mixed_error == 0) t.mixed_error = s.backward_error();
  check(cudaFree(work), "free");
}

// potrf and potrs in double, and potrf in float.
struct CholeskyTimes {
  std::vector<double> factors, solver, singles;
  double error = 0;
};

void run_cholesky_peer(const Peer& peer, System& s, float* single, CholeskyTimes& t) {
  int words = 0;
  PEER(peer, cusolverDnDpotrf_bufferSize, CUBLAS_FILL_MODE_LOWER, s.n, s.lu, s.n, &words);
  double* work = device_array(static_cast<std::size_t>(words));
  s.copy_matrix();
  check(cudaMemcpy(s.x, s.b, sizeof(double) * s.n, cudaMemcpyDeviceToDevice), "copy");
  t.factors.push_back(
      seconds([&] { PEER(peer, cusolverDnDpotrf, CUBLAS_FILL_MODE_LOWER, s.n, s.lu, s.n, work, words, s.info); }));
  t.solver.push_back(t.factors.back() + seconds([&] {
                       PEER(peer, cusolverDnDpotrs, CUBLAS_FILL_MODE_LOWER, s.n, 1, s.lu, s.n, s.x, s.n, s.info);
                     }));
  t.error = s.backward_error();
  check(cudaFree(work), "free");
  PEER(peer, cusolverDnSpotrf_bufferSize, CUBLAS_FILL_MODE_LOWER, s.n, single, s.n, &words);
  float* single_work = reinterpret_cast<float*>(device_array(static_cast<std::size_t>(words)));
  round_to_float<<<1024, 256>>>(s.a, s.size, single);
  t.singles.push_back(seconds(
      [&] { PEER(peer, cusolverDnSpotrf, CUBLAS_FILL_MODE_LOWER, s.n, single, s.n, single_work, words, s.info); }));
  check(cudaFree(single_work), "free");
}

void run_definite(const Peer* peer, int n, const Settings& settings) {
  System s(n);
  make_definite<<<dim3((n + 255) / 256, n), 256>>>(s.a, n);
  float* single = nullptr;
  check(cudaMalloc(&single, s.size * sizeof(float)), "memory");
  CholeskyTimes theirs, ours;
  vernier::SolveReport report;
  const auto expect_definite = [](std::int64_t info) {
    if (info != 0) std::fprintf(stderr, "potrf: info is not 0\n");
  };
  for (int r = 0; r <= settings.runs; ++r) {
    if (peer != nullptr) run_cholesky_peer(*peer, s, single, theirs);
    ours.solver.push_back(
        seconds([&] { report = vernier::cuda::solve_definite(vernier::Uplo::lower, n, 1, s.a, n, s.b, n, s.x, n); }));
    ours.error = s.backward_error();
    s.copy_matrix();
    ours.factors.push_back(seconds([&] { expect_definite(vernier::cuda::potrf(vernier::Uplo::lower, n, s.lu, n)); }));
    round_to_float<<<1024, 256>>>(s.a, s.size, single);
    ours.singles.push_back(seconds([&] { expect_definite(vernier::cuda::potrf(vernier::Uplo::lower, n, single, n)); }));
    if (r == 0)
      for (CholeskyTimes* t : {&theirs, &ours}) t->factors.clear(), t->solver.clear(), t->singles.clear();
  }
  const auto ratio = [](const std::vector<double>& x, const std::vector<double>& y) {
    return y.empty() ? 0 : median(x) / median(y);
  };
  std::printf(
      "{\"n\": %d, \"definite\": true, \"ms\": %.3f, \"ms_factor\": %.3f, \"ms_refine\": %.3f, \"corrections\": %d, "
      "\"backward_error\": %.2e, \"reported_backward_error\": %.2e, \"potrf_ms\": %.3f, \"spotrf_ms\": %.3f, "
      "\"cusolver_ms\": %.3f, \"cusolver_potrf_ms\": %.3f, \"cusolver_spotrf_ms\": %.3f, "
      "\"cusolver_backward_error\": %.2e, \"ratio_to_cusolver\": %.3f, \"potrf_speedup\": %.3f, "
      "\"spotrf_speedup\": %.3f}\n",
      n, median(ours.solver) * 1e3, report.seconds_factor * 1e3, report.seconds_refine * 1e3,
      report.columns[0].corrections, ours.error, report.largest_backward_error(), median(ours.factors) * 1e3,
      median(ours.singles) * 1e3, median(theirs.solver) * 1e3, median(theirs.factors) * 1e3,
      median(theirs.singles) * 1e3, theirs.error, ratio(ours.solver, theirs.solver),
      ratio(theirs.factors, ours.factors), ratio(theirs.singles, ours.singles));
  std::fflush(stdout);
  check(cudaFree(single), "free");
  vernier::cuda::release_workspace();
}

void run(const Peer* peer, int n, const Settings& settings) {
  System s(n);
  PeerTimes theirs;
  std::vector<double> solve, factors;
  double error = 0;
  vernier::SolveReport report;
  for (int r = 0; r <= settings.runs; ++r) {
    if (peer != nullptr) run_peer(*peer, s, theirs), run_mixed_peer(*peer, s, theirs);
    solve.push_back(seconds([&] { report = vernier::cuda::solve(vernier::Op::none, n, 1, s.a, n, s.b, n, s.x, n); }));
    if (r == 0) error = s.backward_error();
    if (settings.factors) {
      s.copy_matrix();
      factors.push_back(seconds([&] {
        if (vernier::cuda::getrf(n, n, s.lu, n, s.pivots) != 0) std::fprintf(stderr, "getrf: info is not 0\n");
      }));
    }
    if (r == 0)  // the first run loads kernels and takes memory
      for (auto* t : {&theirs.solver, &theirs.factors, &theirs.mixed, &solve, &factors}) t->clear();
  }
  std::printf(
      "{\"n\": %d, \"ms\": %.3f, \"ms_factor\": %.3f, \"ms_refine\": %.3f, \"corrections\": %d, \"factors\": \"%s\", "
      "\"fallback\": %s, \"backward_error\": %.2e, \"reported_backward_error\": %.2e, \"getrf_ms\": %.3f, "
      "\"cusolver_ms\": %.3f, \"cusolver_getrf_ms\": %.3f, \"cusolver_backward_error\": %.2e, \"dhgesv_ms\": %.3f, "
      "\"dhgesv_iterations\": %d, \"dhgesv_backward_error\": %.2e, \"ratio_to_cusolver\": %.3f, "
      "\"ratio_to_dhgesv\": %.3f, \"getrf_speedup\": %.3f}\n",
      n, median(solve) * 1e3, report.seconds_factor * 1e3, report.seconds_refine * 1e3, report.columns[0].corrections,
      vernier::to_string(report.factors), report.fallback ? "true" : "false", error, report.largest_backward_error(),
      median(factors) * 1e3, median(theirs.solver) * 1e3, median(theirs.factors) * 1e3, theirs.solver_error,
      median(theirs.mixed) * 1e3, theirs.iterations, theirs.mixed_error,
      peer == nullptr ? 0 : median(solve) / median(theirs.solver),
      peer == nullptr ? 0 : median(solve) / median(theirs.mixed),
      factors.empty() || peer == nullptr ? 0 : median(theirs.factors) / median(factors));
  std::fflush(stdout);
  vernier::cuda::release_workspace();
}

// An interval for each entry of x, beside the peer's plain solution.
void run_verified(const Peer* peer, int n, const Settings& settings) {
  System s(n);
  if (settings.condition != 0) s.set_condition(settings.condition);
  PeerTimes theirs;
  std::vector<double> times;
  vernier::VerifiedReport report;
  double* const high = device_array(n);
  for (int r = 0; r <= settings.runs; ++r) {
    if (peer != nullptr) run_peer(*peer, s, theirs);
    times.push_back(seconds([&] { report = vernier::cuda::verified_solve(n, 1, s.a, n, s.b, n, s.x, high, n); }));
    if (r == 0) theirs.solver.clear(), times.clear();
  }
  std::vector<double> x(n), y(n);
  check(cudaMemcpy(x.data(), s.x, sizeof(double) * n, cudaMemcpyDeviceToHost), "copy");
  check(cudaMemcpy(y.data(), high, sizeof(double) * n, cudaMemcpyDeviceToHost), "copy");
  double widest = 0;
  for (int i = 0; i < n; ++i) widest = std::max(widest, (y[i] - x[i]) / std::max(std::fabs(x[i]), std::fabs(y[i])));
  std::printf(
      "{\"n\": %d, \"condition\": %g, \"verified\": %s, \"contraction\": %.2e, \"widest\": %.2e, \"ms\": %.3f, "
      "\"cusolver_ms\": %.3f, \"ratio_to_cusolver\": %.3f}\n",
      n, settings.condition, report.verified ? "true" : "false", report.contraction, widest, median(times) * 1e3,
      median(theirs.solver) * 1e3, peer == nullptr ? 0 : median(times) / median(theirs.solver));
  std::fflush(stdout);
  check(cudaFree(high), "free");
  vernier::cuda::release_workspace();
}

// Of one precision of the factors.
void run_factors(vernier::Factors factors, int n, const Settings& settings) {
  System s(n);
  vernier::SolveOptions options;
  options.factors = factors;
  options.fallback = false;
  const auto solve = [&] { return vernier::cuda::solve(vernier::Op::none, n, 1, s.a, n, s.b, n, s.x, n, options); };
  const auto free_memory = [] {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "memory");
    return static_cast<double>(free);
  };
  vernier::SolveReport report = solve();
  check(cudaDeviceSynchronize(), "run");  // what it frees is free then
  vernier::cuda::release_workspace();
  const double before = free_memory();
  std::vector<double> all, factor, refine;
  for (int r = 0; r <= settings.runs; ++r) {
    all.push_back(seconds([&] { report = solve(); }));
    factor.push_back(report.seconds_factor), refine.push_back(report.seconds_refine);
    if (r == 0)
      for (auto* t : {&all, &factor, &refine}) t->clear();
  }
  const double memory = before - free_memory(), error = s.backward_error();
  options.max_iterations = 0;
  options.refinement = vernier::Refinement::classical;
  (void)solve();
  std::printf(
      "{\"n\": %d, \"factors\": \"%s\", \"ms\": %.3f, \"ms_factor\": %.3f, \"ms_refine\": %.3f, "
      "\"corrections\": %d, \"gmres_steps\": %d, \"backward_error\": %.2e, \"unrefined_backward_error\": %.3e, "
      "\"memory_mb\": %.1f}\n",
      n, vernier::to_string(report.factors), median(all) * 1e3, median(factor) * 1e3, median(refine) * 1e3,
      report.columns[0].corrections, report.columns[0].gmres_steps, error, s.backward_error(), memory * 1e-6);
  std::fflush(stdout);
  vernier::cuda::release_workspace();
}

vernier::Factors factors_of(const std::string& name) {
  for (const auto factors :
       {vernier::Factors::bf16, vernier::Factors::fp16, vernier::Factors::fp32, vernier::Factors::fp64})
    if (name == vernier::to_string(factors)) return factors;
  std::fprintf(stderr, "vernier-gpu-solve-bench: \"%s\": expected bf16, fp16, fp32 or fp64\n", name.c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  std::vector<std::int64_t> orders;
  std::string factor;
  bool no_factors = false, no_peers = false;
  return vernier::bench::program(
      "vernier-gpu-solve-bench", argc, argv,
      {{"--runs", &s.runs},
       {"--factor", &factor},
       {"--no-factors", &no_factors},
       {"--no-peers", &no_peers},
       {"--definite", &s.definite},
       {"--verified", &s.verified},
       {"--condition", &s.condition},
       {"n", &orders}},
      [&] {
        s.factors = !no_factors, s.peers = !no_peers;
        const Peer* peer = s.peers && factor.empty() ? new Peer : nullptr;
        for (const std::int64_t order : orders) {
          const auto n = static_cast<int>(order);
          if (!factor.empty())
            run_factors(factors_of(factor), n, s);
          else
            s.verified ? run_verified(peer, n, s) : s.definite ? run_definite(peer, n, s) : run(peer, n, s);
        }
      });
}
