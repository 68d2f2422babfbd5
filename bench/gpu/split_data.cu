#include "split_data.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cuda/device.hpp"

namespace bench {
namespace {

using vernier::cuda::check;
using vernier::cuda::check_launch;
using vernier::cuda::DeviceBuffer;

enum class Kind { uniform, normal, positive, scattered, exponents };
struct Recipe {
  Kind kind;
  float phi;        // scattered
  int least, most;  // exponents
};

__device__ std::uint32_t mix(std::uint64_t x) {
  x ^= x >> 33, x *= 0xff51afd7ed558ccdull, x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53ull, x ^= x >> 33;
  return static_cast<std::uint32_t>(x >> 16);
}
__device__ float uniform(std::uint64_t i) { return (static_cast<float>(mix(i) >> 8) + 0.5f) * (1.0f / 16777216); }

__global__ void fill_kernel(Recipe recipe, std::uint64_t seed, float* x, std::int64_t count) {
  for (std::int64_t i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL) {
    const std::uint64_t id = (seed << 40) + 4 * static_cast<std::uint64_t>(i);
    const float u = uniform(id), g = sqrtf(-2 * logf(uniform(id + 1))) * cospif(2 * uniform(id + 2));
    switch (recipe.kind) {
      case Kind::uniform:
        x[i] = 2 * u - 1;
        break;
      case Kind::normal:
        x[i] = g;
        break;
      case Kind::positive:
        x[i] = u;
        break;
      case Kind::scattered:
        x[i] = (u - 0.5f) * expf(recipe.phi * g);
        break;
      case Kind::exponents: {
        const int e = recipe.least + static_cast<int>(mix(id + 1) % (recipe.most - recipe.least + 1));
        const float v = ldexpf(1 + static_cast<float>(mix(id + 2) >> 9) / 8388608.0f, e);
        x[i] = mix(id + 3) & 1 ? v : -v;
      }
    }
  }
}

__global__ void exact_kernel(Problem x, const std::int64_t* rows, const std::int64_t* columns, double* exact,
                             double* magnitude) {
  const std::int64_t i = rows[blockIdx.x], j = columns[blockIdx.y];
  double sum = 0, size = 0;
  for (std::int64_t l = threadIdx.x; l < x.k; l += 128) {
    const double p = static_cast<double>(x.a[i + l * x.m]) * static_cast<double>(x.b[l + j * x.k]);
    sum += p, size += fabs(p);
  }
  __shared__ double sums[128], sizes[128];
  sums[threadIdx.x] = sum, sizes[threadIdx.x] = size;
  __syncthreads();
  for (int o = 64; o != 0; o /= 2) {
    if (threadIdx.x < o) sums[threadIdx.x] += sums[threadIdx.x + o], sizes[threadIdx.x] += sizes[threadIdx.x + o];
    __syncthreads();
  }
  const std::int64_t at = blockIdx.x + static_cast<std::int64_t>(gridDim.x) * blockIdx.y;
  if (threadIdx.x == 0) exact[at] = sums[0], magnitude[at] = sizes[0];
}

__global__ void gather_kernel(const float* c, std::int64_t m, const std::int64_t* rows, const std::int64_t* columns,
                              float* out) {
  out[blockIdx.x + static_cast<std::int64_t>(gridDim.x) * blockIdx.y] = c[rows[blockIdx.x] + columns[blockIdx.y] * m];
}

template <class T>
DeviceBuffer<T> uploaded(const std::vector<T>& x) {
  DeviceBuffer<T> d(x.size());
  check(cudaMemcpy(d.data(), x.data(), d.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  return d;
}
template <class T>
std::vector<T> fetched(const DeviceBuffer<T>& d) {
  std::vector<T> x(d.size());
  check(cudaMemcpy(x.data(), d.data(), d.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return x;
}

std::vector<std::int64_t> spread(std::int64_t count) {
  const std::int64_t samples = std::min<std::int64_t>(count, 128);
  std::vector<std::int64_t> x;
  for (std::int64_t i = 0; i < samples; ++i) x.push_back(i * count / samples + i * 7 % (count / samples));
  return x;
}

Recipe recipe_of(const std::string& kind, bool is_a) {
  constexpr int a[2] = {-15, 14}, b[2] = {-35, -15}, c[2] = {-45, -35};
  const auto exponents = [](const int(&range)[2]) { return Recipe{Kind::exponents, 0, range[0], range[1]}; };
  if (kind == "uniform") return {Kind::uniform, 0, 0, 0};
  if (kind == "normal") return {Kind::normal, 0, 0, 0};
  if (kind == "positive") return {Kind::positive, 0, 0, 0};
  if (kind == "scattered(0.5)") return {Kind::scattered, 0.5f, 0, 0};
  if (kind == "scattered(1)") return {Kind::scattered, 1, 0, 0};
  if (kind == "scattered(4)") return {Kind::scattered, 4, 0, 0};
  if (kind == "scattered(20)") return {Kind::scattered, 20, 0, 0};
  if (kind == "type1") return exponents(a);
  if (kind == "type2") return is_a ? exponents(a) : exponents(b);
  if (kind == "type3") return exponents(b);
  if (kind == "type4") return is_a ? exponents(a) : exponents(c);
  throw std::invalid_argument("unknown data " + kind);
}

}  // namespace

const std::vector<std::string>& data_kinds() {
  static const std::vector<std::string> kinds = {"uniform",      "normal", "positive", "scattered(0.5)", "scattered(1)",
                                                 "scattered(4)", "type1",  "type2",    "type3",          "type4"};
  return kinds;
}

void fill(const std::string& kind, bool is_a, int draw, float* x, std::int64_t count) {
  fill_kernel<<<2048, 256>>>(recipe_of(kind, is_a), static_cast<std::uint64_t>(2 * draw + !is_a), x, count);
  check_launch("fill_kernel");
}

Judge::Judge(const Problem& problem) : problem_(problem), rows_(spread(problem.m)), columns_(spread(problem.n)) {
  const auto rows = uploaded(rows_), columns = uploaded(columns_);
  const DeviceBuffer<double> exact(rows_.size() * columns_.size()), magnitude(exact.size());
  const dim3 grid(static_cast<unsigned>(rows_.size()), static_cast<unsigned>(columns_.size()));
  exact_kernel<<<grid, 128>>>(problem, rows.data(), columns.data(), exact.data(), magnitude.data());
  check_launch("exact_kernel");
  exact_ = fetched(exact), magnitude_ = fetched(magnitude);
}

Error Judge::judge(const float* c) const {
  const auto rows = uploaded(rows_), columns = uploaded(columns_);
  const DeviceBuffer<float> sample(exact_.size());
  const dim3 grid(static_cast<unsigned>(rows_.size()), static_cast<unsigned>(columns_.size()));
  gather_kernel<<<grid, 1>>>(c, problem_.m, rows.data(), columns.data(), sample.data());
  check_launch("gather_kernel");
  const auto values = fetched(sample);
  Error e;
  double squares = 0, norm = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double d = values[i] - exact_[i], relative = std::abs(d) / magnitude_[i];
    e.mean += relative / static_cast<double>(values.size());
    e.max = std::isnan(relative) ? INFINITY : std::max(e.max, relative);
    squares += d * d, norm += exact_[i] * exact_[i];
  }
  e.residual = std::sqrt(squares / norm);
  return e;
}

}  // namespace bench
