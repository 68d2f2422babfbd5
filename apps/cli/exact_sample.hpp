// Errors of a product at sampled entries, against the exact product (MPFR).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace vernier::cli {

// Element (i, j) is data[i * row_step + j * column_step]: any order, any transpose.
template <class T>
struct View {
  const T* data = nullptr;
  std::int64_t row_step = 1;
  std::int64_t column_step = 1;

  T operator()(std::int64_t i, std::int64_t j) const { return data[i * row_step + j * column_step]; }
};

// C = alpha A B + beta C0, A m x k and B k x n. C0 is read where beta is not 0.
template <class T>
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  View<T> a = {}, b = {};
  T alpha = 1, beta = 0;
  View<T> c0 = {};
};

// Of |C - exact| / (|alpha| |A||B| + |beta| |C0|), over the entries compared.
struct SampledError {
  std::int64_t samples = 0;  // entries looked at
  std::int64_t compared =
      0;  // the rest have no such error: NaN or infinity as it should be, or near over- or underflow
  double mean = 0;
  double max = 0;
};

template <class T>
class ExactSample {
 public:
  struct Entry {
    std::int64_t i, j;
    double high, low;  // the exact entry is high + low up to 2^-106 |high|
    double magnitude;  // |alpha| |A||B| + |beta| |C0|
    bool special;      // made of NaN or infinities: high alone counts, as a class
  };

  // min(count, m n) entries: all of them where count allows, else drawn with replacement from the seed.
  ExactSample(const Product<T>& product, std::int64_t count, std::uint64_t seed);

  SampledError errors(View<T> c) const;

 private:
  double error(const Entry& entry, double value) const;

  std::vector<Entry> entries_;
};

}  // namespace vernier::cli
