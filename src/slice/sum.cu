// Products of slices to C: sums in the type's own arithmetic, and exact sums rounded once.
#include <type_traits>

#include "base/instantiate.hpp"
#include "cuda/launch.hpp"
#include "engine/panel.hpp"
#include "number/nearby_terms.hpp"
#include "product/exact/exact_sum.hpp"
#include "product/scalars.hpp"
#include "slice/slices_cuda.hpp"

namespace vernier::cuda {
namespace {

constexpr int sum_threads = 128;

// x 2^exponent in T: x is an integer of 53 bits at most.
template <class T>
__device__ __forceinline__ T scaled_integer(double x, int exponent) {
  constexpr int ordinary = 900;  // no product of these leaves the normal doubles
  if (exponent >= -ordinary && exponent <= ordinary) return static_cast<T>(x * power_of_two(exponent));
  const DoubleParts p = parts_of(x);
  return round_scaled<T>(p.negative, p.significand, p.exponent + exponent);
}

template <class T>
struct Entry {
  std::int64_t i, j;
  bool exists;

  __device__ explicit Entry(const SliceSum<T>& sum)
      : i(static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x), j(blockIdx.y), exists(i < sum.block.m) {}
};

template <class T>
__device__ bool is_special(const SliceSum<T>& sum, std::int64_t i, std::int64_t j) {
  return sum.block.specials && (sum.block.side.a.statistics[i].nonfinite || sum.block.side.b.statistics[j].nonfinite);
}

template <class T, class Product>
__global__ void __launch_bounds__(sum_threads) add_slices(const __grid_constant__ SliceSum<T> task) {
  const Entry<T> e(task);
  if (!e.exists || is_special(task, e.i, e.j)) return;
  const Product* products = static_cast<const Product*>(task.products) + e.i + e.j * task.ld;
  T sum = 0;
#pragma unroll 4
  for (int t = 0; t < task.term_count; ++t) {
    const SliceTerm& term = task.terms[t];
    const int unit = task.exponents.a[term.p * task.strides.a + e.i] + task.exponents.b[term.q * task.strides.b + e.j];
    sum += scaled_integer<T>(static_cast<double>(products[term.product * task.product_size]), unit);
  }
  const T alpha = value_of(task.block.to.alpha), beta = value_of(task.block.to.beta);
  T* c = task.block.to.c + e.i + e.j * task.block.to.ldc;
  *c = beta == 0 ? alpha * sum : fma(alpha, sum, beta * *c);
}

constexpr int window = 14;  // digits of the sum in shared memory: terms up to 380 bits apart

// Products are below 2^product_bits: what an engine's sums hold exactly.
template <class Product>
constexpr int product_bits = sizeof(Product) == 8 ? 54 : 32;
template <>
constexpr int product_bits<float> = 25;

constexpr int terms_at_once = 4;  // on their way from memory

template <class T, class Product>
__global__ void __launch_bounds__(sum_threads) round_slices(const __grid_constant__ SliceSum<T> task) {
  using Integer = std::conditional_t<sizeof(Product) == 8, std::int64_t, std::int32_t>;
  __shared__ std::int64_t words[window][sum_threads];
  const Entry<T> e(task);
  if (!e.exists || is_special(task, e.i, e.j)) return;
  const auto word = [&](int d) -> std::int64_t& { return words[d][threadIdx.x]; };
  const Product* products = static_cast<const Product*>(task.products) + e.i + e.j * task.ld;
  const auto unit_of = [&](const SliceTerm& term) {
    return task.exponents.a[term.p * task.strides.a + e.i] + task.exponents.b[term.q * task.strides.b + e.j];
  };
  int lowest = 0, digits = 0;
  if (task.term_count > 0) {
    lowest = unit_of(task.terms[0]);
    int highest = lowest;
#pragma unroll 4
    for (int t = 0; t < task.term_count; ++t) {
      const int unit = unit_of(task.terms[t]);
      lowest = min(lowest, unit);
      highest = max(highest, unit);
    }
    digits = (highest - lowest + 53 + 16) / digit_bits + 2;  // 2^16 terms of 53 bits
  }
  bool decided = digits <= window;
  if (decided) {
    for (int d = 0; d < digits; ++d) word(d) = 0;
    NearbyTerms near;
    const auto put = [&] {  // into the digits
      const bool negative = near.sum < 0;
      const auto magnitude = static_cast<std::uint64_t>(negative ? -near.sum : near.sum);
      add_to_digits(negative, static_cast<Uint128>(magnitude), near.unit - lowest, 0, digits, word);
    };
    for (int first = 0; first < task.term_count; first += terms_at_once) {
      Integer x[terms_at_once];
      int unit[terms_at_once];
#pragma unroll
      for (int t = 0; t < terms_at_once; ++t) {
        const SliceTerm& term = task.terms[min(first + t, task.term_count - 1)];
        x[t] = static_cast<Integer>(products[term.product * task.product_size]);
        unit[t] = unit_of(term);
      }
#pragma unroll
      for (int t = 0; t < terms_at_once; ++t) {
        if (first + t >= task.term_count || near.add(x[t], unit[t], product_bits<Product>)) continue;
        put();
        near = {};
        near.add(x[t], unit[t], product_bits<Product>);
      }
    }
    if (task.term_count > 0) put();
    const bool negative = digits > 0 && order_digits(digits, word);
    const LeadingBits x = digits > 0 ? leading_bits(negative, lowest, digits, word) : LeadingBits{};
    const UpdateForm<T> form(value_of(task.block.to.alpha), value_of(task.block.to.beta));
    T* c = task.block.to.c + e.i + e.j * task.block.to.ldc;
    const std::optional<Bracket> product = error_bracket(x.value, x.exponent, x.cut, 0, form.only_rounded);
    const std::optional<T> result = product ? combined(*product, form.alpha, form.beta, c) : std::nullopt;
    decided = result.has_value();
    if (decided) *c = *result;
  }
  if (!decided)
    task.block.open[atomicAdd(&task.block.counts->open, 1ull)] = static_cast<std::uint32_t>(e.i + e.j * task.block.m);
}

template <class T, class Kernel>
void launch_sum(const char* name, Kernel kernel, const SliceSum<T>& sum, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(divide_up(sum.block.m, std::int64_t{sum_threads})),
                  static_cast<unsigned>(sum.block.n));
  launch(name, kernel, {.grid = grid, .block = dim3(sum_threads)}, stream, sum);
}

}  // namespace

template <class T>
void add_slices_on_device(const SliceSum<T>& sum, cudaStream_t stream) {
  switch (sum.format) {
    case SliceFormat::int8:
      return launch_sum("add_slices", add_slices<T, std::int32_t>, sum, stream);
    case SliceFormat::fp64:
      return launch_sum("add_slices", add_slices<T, double>, sum, stream);
    default:
      return launch_sum("add_slices", add_slices<T, float>, sum, stream);
  }
}

template <class T>
void round_slices_on_device(const SliceSum<T>& sum, cudaStream_t stream) {
  check(cudaMemsetAsync(&sum.block.counts->open, 0, sizeof sum.block.counts->open, stream), "round_slices");
  switch (sum.format) {
    case SliceFormat::int8:
      return launch_sum("round_slices", round_slices<T, std::int32_t>, sum, stream);
    case SliceFormat::fp64:
      return launch_sum("round_slices", round_slices<T, double>, sum, stream);
    default:
      return launch_sum("round_slices", round_slices<T, float>, sum, stream);
  }
}

VERNIER_REAL_INSTANCES(add_slices_on_device, round_slices_on_device)

}  // namespace vernier::cuda
