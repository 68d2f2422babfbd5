#include "random_matrix.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>
#include <numbers>
#include <type_traits>

namespace vernier::cli {
namespace {

// splitmix64 (Steele, Lea, Flood 2014): its own few lines, since the distributions of <random> differ between libraries
// and a seed should mean one matrix everywhere.
class Generator {
 public:
  explicit Generator(std::uint64_t state) : state_(state) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double normal() {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log1p(-uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
constexpr Bits<T> poison_bits = static_cast<Bits<T>>(sizeof(T) == 8 ? 0x7ff8'0000'dead'beef : 0x7fc0'beef);

}  // namespace

void* allocate_large(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t{1} << 21;
  const std::size_t alignment = bytes >= huge_page ? huge_page : 64;
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  if (bytes >= huge_page) madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

template <class T>
void fill_random(T* a, std::int64_t rows, std::int64_t columns, double phi, std::uint64_t seed) {
  const std::uint64_t key = Generator(seed).bits();
#pragma omp parallel for schedule(static)
  for (std::int64_t j = 0; j < columns; ++j) {
    Generator random(Generator(key + static_cast<std::uint64_t>(j)).bits());
    for (std::int64_t i = 0; i < rows; ++i) {
      const double centred = random.uniform() - 0.5;
      a[i + j * rows] = static_cast<T>(centred * std::exp(phi * random.normal()));
    }
  }
}

template <class T>
void poison(T* a, std::int64_t count) {
  std::fill_n(a, count, std::bit_cast<T>(poison_bits<T>));
}

template <class T>
std::int64_t count_poisoned(const T* a, std::int64_t count) {
  return std::count_if(a, a + count, [](T value) { return std::bit_cast<Bits<T>>(value) == poison_bits<T>; });
}

template void fill_random(float*, std::int64_t, std::int64_t, double, std::uint64_t);
template void fill_random(double*, std::int64_t, std::int64_t, double, std::uint64_t);
template void poison(float*, std::int64_t);
template void poison(double*, std::int64_t);
template std::int64_t count_poisoned(const float*, std::int64_t);
template std::int64_t count_poisoned(const double*, std::int64_t);

}  // namespace vernier::cli
