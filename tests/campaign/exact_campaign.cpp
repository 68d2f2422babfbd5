// Contract exact against GMP, by the million: every entry of many products of many kinds, bit by bit. Writes one JSON
// object; fails on the first kind of data with a wrong rounding.
//
//     exact_campaign --results 1e8 --engine avx512_vnni --output bench/results/exact_campaign.json
//     exact_campaign --results 1e8 --device gpu --output bench/results/exact_campaign_gpu.json
//     exact_campaign --results 1e8 --rounding all --shapes any --output bench/results/exact_campaign_directed.json
#include <fmt/core.h>

#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/boundaries.hpp"
#include "support/compare.hpp"
#include "support/exact.hpp"
#include "support/generators.hpp"
#include "vernier/cuda.hpp"
#include "vernier/vernier.hpp"

#if VERNIER_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace vernier::test::exact_campaign {
namespace {

using Json = nlohmann::ordered_json;

struct Shape {
  std::int64_t m = 96, n = 100, k = 16;  // cut tiles
};

struct Arguments {
  double results = 1e7;
  std::string engine, output, commit;
  std::string device = "cpu";  // or "gpu"
  bool directed = false;       // all four directions in turn, and the boundaries of each; else to nearest
  bool any_shape = false;      // and either operand transposed, with gaps between columns
  std::uint64_t seed = 1;
};

// One kind of data: op(A), op(B) for a seed.
template <class T>
struct Kind {
  std::string name;
  std::function<Operands<T>(const Shape&, std::uint64_t seed)> make;
};

// x y - x y + z with z 2^-100 of the terms.
template <class T>
Operands<T> deeply_cancelling(const Shape& shape, std::uint64_t seed) {
  const auto [m, n, k] = shape;
  Operands<T> made = make_operands<T>("random_phi_0_5", m, n, k, seed);
  for (std::int64_t l = 0; l + 1 < k; l += 2) {
    for (std::int64_t i = 0; i < m; ++i) made.a(i, l + 1) = made.a(i, l);
    for (std::int64_t j = 0; j < n; ++j) made.b(l + 1, j) = -made.b(l, j);
  }
  const int half = sizeof(T) == 4 ? -20 : -50;
  for (std::int64_t i = 0; i < m; ++i) made.a(i, k - 1) = std::ldexp(made.a(i, k - 1), half);
  for (std::int64_t j = 0; j < n; ++j) {
    if (k % 2 == 0) made.b(k - 2, j) = 0;  // the last element stands alone
    made.b(k - 1, j) = std::ldexp(made.b(k - 1, j), half);
  }
  return made;
}

template <class T>
std::vector<Kind<T>> kinds(bool directed) {
  std::vector<Kind<T>> list;
  for (const std::string& family : operand_families())
    list.push_back({family, [=](const auto& s, auto seed) { return make_operands<T>(family, s.m, s.n, s.k, seed); }});
  const auto add_boundaries = [&list](const std::string& family) {
    list.push_back(
        {family, [=](const auto& s, auto seed) { return make_boundary_operands<T>(family, s.m, s.n, s.k, seed); }});
  };
  for (const std::string& family : boundary_families()) add_boundaries(family);
  if (directed)
    for (const std::string& family : directed_boundary_families())
      if (family != "overflow_ties") add_boundaries(family);
  list.push_back({"random_phi_8", [](const auto& s, auto seed) {
                    const double phi = sizeof(T) == 4 ? 5 : 8;
                    return Operands<T>{scattered_matrix<T>(s.m, s.k, phi, 2 * seed),
                                       scattered_matrix<T>(s.k, s.n, phi, 2 * seed + 1)};
                  }});
  list.push_back({"cancelling_to_2^-100", deeply_cancelling<T>});
  return list;
}

struct Counts {
  std::int64_t results = 0, wrong = 0, undecided = 0, accumulated = 0;
  std::string first_wrong;
};

struct Ops {
  Op a = Op::none, b = Op::none;
  std::int64_t k = 0;
};

#if VERNIER_HAS_CUDA
void check_cuda(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

// A thread's own stream and memory, for the life of the program.
class DeviceMatrices {
 public:
  DeviceMatrices() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }

  // C of one product, in place.
  template <class T>
  Report multiply(const Ops& op, T alpha, const Matrix<T>& a, const Matrix<T>& b, T beta, Matrix<T>& c,
                  const std::string& engine, Rounding rounding) {
    T *x = to_device(0, a), *y = to_device(1, b), *z = to_device(2, c);
    const cuda::Options options{
        .contract = Contract::exact(rounding), .engine = engine, .stream = stream_, .count_open = true};
    const Report report =
        cuda::gemm(op.a, op.b, c.rows(), c.columns(), op.k, &alpha, x, a.ld(), y, b.ld(), &beta, z, c.ld(), options);
    check_cuda(cudaMemcpyAsync(c.data(), z, bytes(c), cudaMemcpyDeviceToHost, stream_));
    check_cuda(cudaStreamSynchronize(stream_));
    return report;
  }

 private:
  template <class T>
  static std::size_t bytes(const Matrix<T>& x) {
    return static_cast<std::size_t>(x.ld() * x.columns()) * sizeof(T);
  }
  template <class T>
  T* to_device(std::size_t slot, const Matrix<T>& x) {
    if (room_[slot] < bytes(x)) {
      check_cuda(cudaFree(memory_[slot]));
      check_cuda(cudaMalloc(&memory_[slot], bytes(x)));
      room_[slot] = bytes(x);
    }
    check_cuda(cudaMemcpyAsync(memory_[slot], x.data(), bytes(x), cudaMemcpyHostToDevice, stream_));
    return static_cast<T*>(memory_[slot]);
  }

  cudaStream_t stream_ = nullptr;
  std::array<void*, 3> memory_{};
  std::array<std::size_t, 3> room_{};
};

template <class T>
Report multiply_on_gpu(const Ops& op, T alpha, const Matrix<T>& a, const Matrix<T>& b, T beta, Matrix<T>& c,
                       const std::string& engine, Rounding rounding) {
  thread_local DeviceMatrices device;
  return device.multiply(op, alpha, a, b, beta, c, engine, rounding);
}
#else
template <class T>
Report multiply_on_gpu(const Ops&, T, const Matrix<T>&, const Matrix<T>&, T, Matrix<T>&, const std::string&, Rounding) {
  throw std::runtime_error("--device gpu: built without CUDA");
}
#endif

template <class T>
void check(const Kind<T>& kind, std::uint64_t seed, const Arguments& arguments, Counts& counts) {
  Random random(seed);
  Shape shape{.k = random.integer(16, 64)};
  Ops op;
  std::int64_t gap = 0;
  if (arguments.any_shape) {
    const auto of_any_size = [&](double most) { return static_cast<std::int64_t>(std::exp2(random.uniform() * most)); };
    shape = {of_any_size(8), of_any_size(8), 15 + of_any_size(10)};
    if (shape.m * shape.n < 500) shape.m += 100, shape.n += 20;
    op.a = random.sign() < 0 ? Op::transpose : Op::none, op.b = random.sign() < 0 ? Op::transpose : Op::none;
    gap = random.integer(0, 5);
  }
  const auto [m, n, k] = shape;
  op.k = k;
  const auto [a, b] = kind.make(shape, seed);
  const T alpha = static_cast<T>(seed % 8 == 3 ? random.exp_rand(-3, 3) : seed % 8 == 2 ? -0.5 : 1.0);
  const T beta = static_cast<T>(seed % 8 >= 6 ? random.exp_rand(-3, 3) : seed % 8 == 5 ? -1.0 : 0.0);
  const ExactProduct<T> exact(a, b);
  const Matrix<T> x = stored(op.a, a, gap), y = stored(op.b, b, gap);
  Matrix<T> c = padded(seed % 2 == 0 ? exact.rounded() : scattered_matrix<T>(m, n, 2, seed), gap);  // the first cancels
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      if (!std::isfinite(c(i, j))) c(i, j) = std::numeric_limits<T>::max();
  const Matrix<T> before = c;
  const Rounding rounding = arguments.directed ? static_cast<Rounding>(seed / 8 % 4) : Rounding::nearest;
  const Options options{.contract = Contract::exact(rounding), .engine = arguments.engine, .threads = 1};
  const Report report =
      arguments.device == "gpu"
          ? multiply_on_gpu(op, alpha, x, y, beta, c, arguments.engine, rounding)
          : gemm(op.a, op.b, m, n, k, alpha, x.data(), x.ld(), y.data(), y.ld(), beta, c.data(), c.ld(), options);
  const mpz_class alpha_value = exact_value(static_cast<double>(alpha)),
                  beta_value = exact_value(static_cast<double>(beta));
  const Matrix<T> expected = Matrix<T>::of(m, n, [&](auto i, auto j) {
    mpz_class value = alpha_value * exact.sum(i, j);
    if (beta != 0) value += beta_value * exact_value(static_cast<double>(before(i, j)));
    return rounded<T>(value, 2 * exact_unit, rounding);
  });
  std::int64_t wrong = 0;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) wrong += bits_of(c(i, j)) != bits_of(expected(i, j)) ? 1 : 0;
  if (!c.broken_guard().empty()) ++wrong;
#pragma omp critical
  {
    counts.results += m * n;
    counts.wrong += wrong;
    counts.undecided += report.undecided;
    counts.accumulated += report.accumulated;
    if (wrong != 0 && counts.first_wrong.empty())
      counts.first_wrong = fmt::format("seed {}: {}", seed, difference(c, expected));
  }
}

template <class T>
bool run(const char* type, const Arguments& arguments, Json& json) {
  const std::vector<Kind<T>> list = kinds<T>(arguments.directed);
  const double of_a_product = arguments.any_shape ? 6000 : 9600;  // of any shape: about
  const auto products =
      static_cast<std::int64_t>(std::ceil(arguments.results / 2 / static_cast<double>(list.size()) / of_a_product));
  bool right = true;
  for (const Kind<T>& kind : list) {
    Counts counts;
#pragma omp parallel for schedule(dynamic, 1)
    for (std::int64_t p = 0; p < products; ++p)
      check(kind, arguments.seed * 1000003 + static_cast<std::uint64_t>(p), arguments, counts);
    json["kinds"].push_back({{"type", type},
                             {"data", kind.name},
                             {"results", counts.results},
                             {"wrong", counts.wrong},
                             {"undecided", counts.undecided},
                             {"accumulated", counts.accumulated}});
    json["results"] = json["results"].get<std::int64_t>() + counts.results;
    json["wrong"] = json["wrong"].get<std::int64_t>() + counts.wrong;
    if (counts.wrong != 0) std::cerr << type << ", " << kind.name << ": " << counts.first_wrong << '\n';
    right = right && counts.wrong == 0;
  }
  return right;
}

Arguments parse(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; i += 2) {
    const std::string name = words[i];
    if (i + 1 == count) throw std::invalid_argument(name + ": expected a value");
    const std::string value = words[i + 1];
    if (name == "--results")
      arguments.results = std::stod(value);
    else if (name == "--engine")
      arguments.engine = value;
    else if (name == "--device" && (value == "cpu" || value == "gpu"))
      arguments.device = value;
    else if (name == "--rounding" && (value == "nearest" || value == "all"))
      arguments.directed = value == "all";
    else if (name == "--shapes" && (value == "one" || value == "any"))
      arguments.any_shape = value == "any";
    else if (name == "--output")
      arguments.output = value;
    else if (name == "--commit")
      arguments.commit = value;
    else if (name == "--seed")
      arguments.seed = std::stoull(value);
    else
      throw std::invalid_argument(
          name +
          ": expected --results, --engine, --device (cpu, gpu), --rounding (nearest, all), --seed, "
          "--commit or --output");
  }
  return arguments;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string engine_of(const Arguments& arguments) {
  if (!arguments.engine.empty()) return arguments.engine;
  return arguments.device == "gpu"
             ? cuda::explain<double>(Op::none, Op::none, 96, 100, 16, {.contract = Contract::exact()}).engine
             : default_engine();
}

int main_of(int count, char** words) {
  const Arguments arguments = parse(count, words);
  Json json = {{"contract", "exact"},
               {"rounding", arguments.directed ? "nearest, down, up and toward zero in turn" : "nearest"},
               {"cpu", cpu_model()},
               {"version", version()},
               {"commit", arguments.commit},
               {"shapes", arguments.any_shape ? "any, with transposed operands" : "96 x 100 x 16 to 64"},
               {"device", arguments.device == "gpu" ? cuda::device_name() : "cpu"},
               {"engine", engine_of(arguments)},
               {"seed", arguments.seed},
               {"results", 0},
               {"wrong", 0}};
  const bool doubles = run<double>("double", arguments, json), floats = run<float>("float", arguments, json);
  if (arguments.output.empty())
    std::cout << json.dump(1) << '\n';
  else
    std::ofstream(arguments.output) << json.dump(1) << '\n';
  return doubles && floats ? 0 : 1;
}

}  // namespace
}  // namespace vernier::test::exact_campaign

int main(int count, char** words) {
  try {
    return vernier::test::exact_campaign::main_of(count, words);
  } catch (const std::exception& error) {
    std::cerr << "exact_campaign: " << error.what() << '\n';
    return 2;
  }
}
