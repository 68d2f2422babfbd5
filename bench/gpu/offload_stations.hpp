// Where the time of a small product of the host's matrices goes: each station alone, one JSON object a shape.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "blas/offload/device.hpp"
#include "blas/offload/offload.hpp"
#include "timing.hpp"

namespace bench {

// Median of calls with a short rest between, in microseconds.
inline double microseconds(const std::function<void()>& call) {
  std::vector<double> seconds;
  for (int i = 0; i < 40; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return median(std::vector<double>(seconds.begin() + 8, seconds.end())) * 1e6;
}

template <class T>
void time_stations(std::int64_t m, std::int64_t n, std::int64_t k, const vernier::Options& options) {
  using namespace vernier;
  std::vector<T> a(static_cast<std::size_t>(m * k), T(0.5)), b(static_cast<std::size_t>(k * n), T(0.25)),
      c(static_cast<std::size_t>(m * n));
  const OffloadTarget<T> target = cuda_target<T>(options);
  offload::ScheduleRequest request{.m = m, .n = n, .k = k, .element = sizeof(T), .memory = std::size_t{1} << 30};
  request.workspace = [&](std::int64_t rows, std::int64_t columns) {
    return target.workspace(rows, columns, k, false);
  };
  const auto transfer = [&](int threads) {
    const auto link = offload::cuda_link(0, [](const offload::BlockOnDevice&) {});
    (void)offload::copy_packed(*link, request, a.data(), b.data(), c.data(), threads);
  };
  T *da = nullptr, *db = nullptr, *dc = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&da), a.size() * sizeof(T)), "memory");
  check(cudaMalloc(reinterpret_cast<void**>(&db), b.size() * sizeof(T)), "memory");
  check(cudaMalloc(reinterpret_cast<void**>(&dc), c.size() * sizeof(T)), "memory");
  check(cudaMemcpy(da, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  check(cudaMemcpy(db, b.data(), b.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  const GemmCall<T> on_host{Op::none, Op::none, m, n, k, T{1}, a.data(), m, b.data(), k, T{0}, c.data(), m};
  GemmCall<T> on_device = on_host;
  on_device.a = da, on_device.b = db, on_device.c = dc;
  const auto on_gpu = [&] {
    (void)target.multiply(on_device, std::size_t{1} << 30, nullptr);
    target.synchronize();
  };
  const int all = offload_threads(options);
  Options free = options;
  free.device = Device::automatic;
  const std::pair<const char*, std::function<void()>> stations[] = {
      {"place",
       [&] {
         (void)place_product<T>({m, n, k}, false, free);
       }},
      {"target", [&] { (void)cuda_target<T>(options); }},
      {"memory_of", [&] { (void)target.memory_of(a.data(), a.data() + a.size() - 1); }},
      {"free_memory", [&] { (void)target.free_memory(0); }},
      {"schedule", [&] { (void)offload::make_schedule(request); }},
      {"device_product", on_gpu},
      {"transfer_1", [&] { transfer(1); }},
      {"transfer_4", [&] { transfer(4); }},
      {"transfer_8", [&] { transfer(8); }},
      {"transfer_all", [&] { transfer(all); }},
      {"whole", [&] { (void)offloaded_gemm<T>(on_host, options, target); }},
      {"whole_4",
       [&] {
         Options o = options;
         o.threads = 4;
         (void)offloaded_gemm<T>(on_host, o, target);
       }},
      {"cpu",
       [&] {
         Options o = options;
         o.device = Device::cpu;
         (void)gemm<T>(Op::none, Op::none, m, n, k, T{1}, a.data(), m, b.data(), k, T{0}, c.data(), m, o);
       }},
  };
  std::printf("{\"m\": %lld, \"n\": %lld, \"k\": %lld, \"bytes\": %zu", static_cast<long long>(m),
              static_cast<long long>(n), static_cast<long long>(k), sizeof(T));
  for (const auto& [name, call] : stations) std::printf(", \"%s_us\": %.4g", name, microseconds(call));
  std::printf("}\n");
  std::fflush(stdout);
  for (T* x : {da, db, dc}) (void)cudaFree(x);
}

}  // namespace bench
