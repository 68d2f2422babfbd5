// vernier-offload-bench: products of matrices in memory of the host, on the CPU by a BLAS and on the GPU by cublasXt
// and by Vernier, in one process and in turns: one JSON object a line.
//
//     vernier-offload-bench [--blas NAME LIBRARY SYMBOL_D SYMBOL_S]... [--type double|float] [--contract fp64]
//                           [--phi 0.5] [--runs 7] [--pinned] [--block M,N] [--piece BYTES] [--threads N]
//                           [--staging BYTES] [--no-xt] [--link] M,N,K...
//
// SYMBOL_D and SYMBOL_S are a library's cblas_dgemm and cblas_sgemm; "64" behind a symbol's name says that it takes
// 64-bit sizes. Data are (rand - 0.5) exp(phi randn). Times are medians of calls after a rest, errors those of 256
// sampled entries against sums in long double, relative to |A||B|.
// --link: what copies reach alone. --stations: where the time of small products goes.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <omp.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "blas/offload/offload.hpp"
#include "offload_stations.hpp"
#include "timing.hpp"

namespace {

using bench::check, bench::median;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Library {
  std::string name, file, symbol_double, symbol_single;
};

struct Settings {
  std::vector<Library> libraries;
  std::string contract, type = "double";
  double phi = 0.5;
  int runs = 7, threads = 0;
  std::int64_t m_block = 0, n_block = 0;
  std::size_t piece = vernier::offload::TransferSettings{}.piece_bytes, staging = std::size_t{128} << 20;
  bool pinned = false, xt = true, link = false, stations = false;
};

// Of a stream of numbers, the i-th; by SplitMix64.
double uniform(std::uint64_t i) {
  std::uint64_t x = i * 0x9E3779B97F4A7C15ull;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return (static_cast<double>((x ^ x >> 31) >> 11) + 0.5) * 0x1p-53;
}

// (rand - 0.5) exp(phi randn)
double element(std::uint64_t i, double phi) {
  const double radius = std::sqrt(-2 * std::log(uniform(3 * i))), angle = 6.283185307179586 * uniform(3 * i + 1);
  return (uniform(3 * i + 2) - 0.5) * std::exp(phi * radius * std::cos(angle));
}

// Pageable or pinned.
template <class T>
class HostArray {
 public:
  HostArray(std::int64_t rows, std::int64_t columns, bool pinned, std::uint64_t seed, double phi)
      : count_(static_cast<std::size_t>(rows * columns)), pinned_(pinned) {
    if (pinned_)
      check(cudaHostAlloc(reinterpret_cast<void**>(&data_), count_ * sizeof(T), cudaHostAllocDefault), "pinned memory");
    else
      data_ = static_cast<T*>(std::aligned_alloc(4096, (count_ * sizeof(T) + 4095) / 4096 * 4096));
    if (data_ == nullptr) throw std::runtime_error("out of memory");
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < count_; ++i) data_[i] = static_cast<T>(element(i + (seed << 40), phi));
  }
  ~HostArray() {
    if (pinned_)
      (void)cudaFreeHost(data_);
    else
      std::free(data_);
  }
  HostArray(const HostArray&) = delete;
  HostArray& operator=(const HostArray&) = delete;
  T* data() const { return data_; }
  void poison() const { std::memset(data_, 0xff, count_ * sizeof(T)); }
  std::uint64_t hash() const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(data_);
    std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::size_t i = 0; i < count_; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, bytes + i * sizeof(T), sizeof(T));
      sum += (bits ^ i) * 0x9E3779B97F4A7C15ull >> 7;
    }
    return sum;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
  bool pinned_;
};

template <class T>
double largest_error(const T* a, const T* b, const T* c, std::int64_t m, std::int64_t n, std::int64_t k) {
  double worst = 0;
  for (int s = 0; s < 256; ++s) {
    const std::int64_t i = (s * 7919ll + m - 1) % m, j = (s * 104729ll + n - 1) % n;
    long double sum = 0, magnitude = 0;
    for (std::int64_t l = 0; l < k; ++l) {
      const long double p = static_cast<long double>(a[i + l * m]) * b[l + j * k];
      sum += p;
      magnitude += std::fabs(p);
    }
    const double error = static_cast<double>(std::fabs(static_cast<long double>(c[i + j * m]) - sum) / magnitude);
    worst = error <= worst ? worst : std::isnan(error) ? INFINITY : error;
  }
  return worst;
}

// A BLAS by its CBLAS symbol.
template <class T>
class Blas {
 public:
  explicit Blas(const Library& library) : name_(library.name) {
    const std::string& symbol = sizeof(T) == 8 ? library.symbol_double : library.symbol_single;
    void* handle = dlopen(library.file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw std::runtime_error(dlerror());
    wide_ = symbol.find("64") != std::string::npos;
    function_ = dlsym(handle, symbol.c_str());
    if (function_ == nullptr) throw std::runtime_error(symbol + ": not found");
  }
  const std::string& name() const { return name_; }
  void operator()(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c) const {
    if (wide_)
      reinterpret_cast<Gemm<std::int64_t>>(function_)(102, 111, 111, m, n, k, 1, a, m, b, k, 0, c, m);
    else
      reinterpret_cast<Gemm<int>>(function_)(102, 111, 111, static_cast<int>(m), static_cast<int>(n),
                                             static_cast<int>(k), 1, a, static_cast<int>(m), b, static_cast<int>(k), 0,
                                             c, static_cast<int>(m));
  }

 private:
  template <class I>
  using Gemm = void (*)(int, int, int, I, I, I, T, const T*, I, const T*, I, T, T*, I);
  std::string name_;
  void* function_ = nullptr;
  bool wide_ = false;
};

template <class T>
class CublasXt {
 public:
  CublasXt() {
    void* library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) library = dlopen("libcublas.so.12", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error("no cuBLAS");
    const auto create = reinterpret_cast<int (*)(void**)>(dlsym(library, "cublasXtCreate"));
    const auto select = reinterpret_cast<int (*)(void*, int, int*)>(dlsym(library, "cublasXtDeviceSelect"));
    const auto block = reinterpret_cast<int (*)(void*, int)>(dlsym(library, "cublasXtSetBlockDim"));
    gemm_ = reinterpret_cast<Gemm>(dlsym(library, sizeof(T) == 8 ? "cublasXtDgemm" : "cublasXtSgemm"));
    int device = 0;
    if (create(&handle_) != 0 || select(handle_, 1, &device) != 0 || block(handle_, 4096) != 0)
      throw std::runtime_error("cublasXt cannot be set up");
  }
  void operator()(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c) const {
    const T one = 1, zero = 0;
    if (gemm_(handle_, 0, 0, static_cast<std::size_t>(m), static_cast<std::size_t>(n), static_cast<std::size_t>(k),
              &one, a, static_cast<std::size_t>(m), b, static_cast<std::size_t>(k), &zero, c,
              static_cast<std::size_t>(m)) != 0)
      throw std::runtime_error("cublasXt failed");
    check(cudaDeviceSynchronize(), "cublasXt");
  }

 private:
  using Gemm = int (*)(void*, int, int, std::size_t, std::size_t, std::size_t, const T*, const T*, std::size_t,
                       const T*, std::size_t, const T*, T*, std::size_t);
  void* handle_ = nullptr;
  Gemm gemm_ = nullptr;
};

// Threads of whoever multiplied last may still be spinning.
void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

struct Contender {
  std::string name;
  std::function<void()> multiply;
  int runs;
  std::vector<double> seconds;
  double error = 0;
  std::uint64_t hash = 0;  // of C
};

template <class T>
void run(std::int64_t m, std::int64_t n, std::int64_t k, const Settings& s, const std::vector<Blas<T>>& libraries,
         const CublasXt<T>* xt) {
  const HostArray<T> a(m, k, s.pinned, 1, s.phi), b(k, n, s.pinned, 2, s.phi), c(m, n, s.pinned, 3, 0);
  vernier::Options options;
  options.contract = s.contract.empty() ? vernier::default_contract<T>() : vernier::Contract::parse(s.contract);
  options.threads = s.threads;
  vernier::OffloadSettings settings{.m_block = s.m_block, .n_block = s.n_block};
  settings.transfer.piece_bytes = s.piece;
  settings.transfer.staging_bytes = s.staging;
  vernier::Report report;
  const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  std::vector<Contender> contenders;
  contenders.push_back({"vernier",
                        [&] {
                          report = vernier::offloaded_gemm<T>({vernier::Op::none, vernier::Op::none, m, n, k, T{1},
                                                               a.data(), m, b.data(), k, T{0}, c.data(), m},
                                                              options, vernier::cuda_target<T>(options), settings);
                        },
                        s.runs});
  if (xt != nullptr) contenders.push_back({"cublasxt", [&] { (*xt)(m, n, k, a.data(), b.data(), c.data()); }, s.runs});
  for (const Blas<T>& blas : libraries)
    contenders.push_back(
        {blas.name(), [&] { blas(m, n, k, a.data(), b.data(), c.data()); }, flops > 5e11 ? 1 : s.runs});
  for (Contender& x : contenders) {  // warm, and judged
    c.poison();
    const double start = now();
    x.multiply();
    if (x.runs == 1) x.seconds.push_back(now() - start);
    x.error = largest_error(a.data(), b.data(), c.data(), m, n, k);
    x.hash = c.hash();
  }
  for (int turn = 0; turn < s.runs; ++turn)
    for (Contender& x : contenders) {
      if (static_cast<int>(x.seconds.size()) >= x.runs) continue;
      rest();
      const double start = now();
      x.multiply();
      x.seconds.push_back(now() - start);
    }
  std::printf(
      "{\"m\": %lld, \"n\": %lld, \"k\": %lld, \"type\": \"%s\", \"contract\": \"%s\", \"memory\": \"%s\", \"phi\": "
      "%g, \"scheme\": \"%s\"",
      static_cast<long long>(m), static_cast<long long>(n), static_cast<long long>(k), s.type.c_str(),
      options.contract.text().c_str(), s.pinned ? "pinned" : "pageable", s.phi, report.plan.scheme.c_str());
  for (Contender& x : contenders) {
    const double seconds = median(x.seconds);
    std::printf(", \"%s_seconds\": %.5g, \"%s_tflops\": %.3g, \"%s_error\": %.2e", x.name.c_str(), seconds,
                x.name.c_str(), flops / seconds * 1e-12, x.name.c_str(), x.error);
  }
  const double bytes = static_cast<double>(sizeof(T)) * static_cast<double>(m * k + k * n + m * n);
  std::printf(", \"vernier_bytes_a_second\": %.4g, \"vernier_hash\": \"%016llx\", \"reason\": \"%s\"}\n",
              bytes / median(contenders[0].seconds), static_cast<unsigned long long>(contenders[0].hash),
              report.plan.reason.c_str());
  std::fflush(stdout);
}

// What copies reach alone, bytes a second.
void measure_link(int threads) {
  const std::size_t bytes = std::size_t{1} << 30;
  const HostArray<double> pinned(1 << 27, 1, true, 1, 0), pageable(1 << 27, 1, false, 2, 0),
      other(1 << 27, 1, true, 3, 0);
  std::byte *device = nullptr, *second = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&device), bytes), "memory");
  check(cudaMalloc(reinterpret_cast<void**>(&second), bytes), "memory");
  cudaStream_t up = nullptr, down = nullptr;
  check(cudaStreamCreate(&up), "stream");
  check(cudaStreamCreate(&down), "stream");
  const auto rate = [&](const auto& body) {
    body();
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const double start = now();
      body();
      check(cudaDeviceSynchronize(), "copies");
      best = std::min(best, now() - start);
    }
    return static_cast<double>(bytes) / best;
  };
  const auto copy = [&](int n, void* to, const void* from) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(n)
    for (std::size_t i = 0; i < bytes >> 20; ++i)
      std::memcpy(static_cast<std::byte*>(to) + (i << 20), static_cast<const std::byte*>(from) + (i << 20), 1 << 20);
  };
  const auto send = [&](const void* from) {
    check(cudaMemcpyAsync(device, from, bytes, cudaMemcpyHostToDevice, up), "up");
  };
  const auto fetch = [&](void* to) { check(cudaMemcpyAsync(to, second, bytes, cudaMemcpyDeviceToHost, down), "down"); };
  const double pinned_up = rate([&] { send(pinned.data()); }), pinned_down = rate([&] { fetch(other.data()); });
  const double both = 2 * rate([&] { send(pinned.data()), fetch(other.data()); });
  const double plain_up = rate([&] { send(pageable.data()); }), plain_down = rate([&] { fetch(pageable.data()); });
  const double one = rate([&] { copy(1, pinned.data(), pageable.data()); });
  const double eight = rate([&] { copy(8, pinned.data(), pageable.data()); });
  const double all = rate([&] { copy(threads, pinned.data(), pageable.data()); });
  const double back = rate([&] { copy(threads, pageable.data(), pinned.data()); });
  // What a product does at once: memory serves the threads and the link.
  const double all_sending = rate([&] { send(other.data()), copy(threads, pinned.data(), pageable.data()); });
  const double back_fetching = rate([&] { fetch(other.data()), copy(threads, pageable.data(), pinned.data()); });
  std::printf(
      "{\"link\": {\"pinned_up\": %.4g, \"pinned_down\": %.4g, \"both\": %.4g, \"pageable_up\": %.4g, "
      "\"pageable_down\": %.4g, \"copy_1\": %.4g, \"copy_8\": %.4g, \"copy_all\": %.4g, \"copy_back_all\": %.4g, "
      "\"copy_all_while_sending\": %.4g, \"copy_back_all_while_fetching\": %.4g, \"threads\": %d}}\n",
      pinned_up, pinned_down, both, plain_up, plain_down, one, eight, all, back, all_sending, back_fetching, threads);
  std::fflush(stdout);
  (void)cudaFree(device);
  (void)cudaFree(second);
}

template <class T>
void run_all(const std::vector<std::string>& sizes, const Settings& s) {
  std::vector<Blas<T>> libraries;
  for (const Library& library : s.libraries) libraries.emplace_back(library);
  std::unique_ptr<CublasXt<T>> xt;
  if (s.xt) xt = std::make_unique<CublasXt<T>>();
  for (const std::string& text : sizes) {
    long long m = 0, n = 0, k = 0;
    if (std::sscanf(text.c_str(), "%lld,%lld,%lld", &m, &n, &k) != 3)
      throw std::runtime_error(text + ": expected M,N,K");
    if (s.stations) {
      bench::time_stations<T>(m, n, k, {.contract = vernier::default_contract<T>(), .threads = s.threads});
      continue;
    }
    run<T>(m, n, k, s, libraries, xt.get());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Settings s;
    std::vector<std::string> sizes;
    for (int i = 1; i < argc; ++i) {
      const std::string x = argv[i];
      const auto next = [&] {
        return i + 1 < argc ? std::string(argv[++i]) : throw std::runtime_error(x + ": a value");
      };
      if (x == "--blas") {
        Library library;
        for (std::string* value : {&library.name, &library.file, &library.symbol_double, &library.symbol_single})
          *value = next();
        s.libraries.push_back(library);
      } else if (x == "--phi") {
        s.phi = std::stod(next());
      } else if (x == "--type")
        s.type = next();
      else if (x == "--contract")
        s.contract = next();
      else if (x == "--runs")
        s.runs = std::stoi(next());
      else if (x == "--pinned")
        s.pinned = true;
      else if (x == "--block")
        std::sscanf(next().c_str(), "%ld,%ld", &s.m_block, &s.n_block);
      else if (x == "--piece")
        s.piece = std::stoull(next());
      else if (x == "--threads")
        s.threads = std::stoi(next());
      else if (x == "--staging")
        s.staging = std::stoull(next());
      else if (x == "--no-xt")
        s.xt = false;
      else if (x == "--link")
        s.link = true;
      else if (x == "--stations")
        s.stations = true, s.xt = false;
      else
        sizes.push_back(x);
    }
    if (s.link) measure_link(omp_get_max_threads());
    s.type == "float" ? run_all<float>(sizes, s) : run_all<double>(sizes, s);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vernier-offload-bench: %s\n", error.what());
    return 1;
  }
}
