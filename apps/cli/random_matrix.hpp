// Large arrays, and the matrices that benchmarks of such products are made of.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace vernier::cli {

// Memory aligned to huge pages and advised to use them, as NumPy does for large arrays; not initialised.
void* allocate_large(std::size_t bytes);

template <class T>
class LargeArray {
 public:
  explicit LargeArray(std::int64_t count)
      : memory_(static_cast<T*>(allocate_large(static_cast<std::size_t>(count) * sizeof(T)))), count_(count) {}
  T* data() const { return memory_.get(); }
  std::int64_t size() const { return count_; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> memory_;
  std::int64_t count_;
};

// a_ij = (uniform(0, 1) - 0.5) exp(phi normal): the larger phi, the wider the exponents. By columns, each with a
// generator of its own made of seed and j, so that no number of threads changes the matrix.
template <class T>
void fill_random(T* a, std::int64_t rows, std::int64_t columns, double phi, std::uint64_t seed);

// A NaN that no arithmetic makes, to find what a product did not write.
template <class T>
void poison(T* a, std::int64_t count);
template <class T>
std::int64_t count_poisoned(const T* a, std::int64_t count);

}  // namespace vernier::cli
