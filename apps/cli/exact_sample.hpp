// Errors of a product at sampled entries, against the exact product (MPFR).
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace vernier::cli {

// The real numbers that an element is made of.
template <class T>
struct Parts {
  using Real = T;
  static constexpr int count = 1;
};
template <class R>
struct Parts<std::complex<R>> {
  using Real = R;
  static constexpr int count = 2;
};

// Element (i, j) is data[i * row_step + j * column_step], or its conjugate: any order, any transpose.
template <class T>
struct View {
  const T* data = nullptr;
  std::int64_t row_step = 1;
  std::int64_t column_step = 1;
  bool conjugated = false;

  T operator()(std::int64_t i, std::int64_t j) const {
    const T x = data[i * row_step + j * column_step];
    if constexpr (Parts<T>::count == 2)
      return conjugated ? std::conj(x) : x;
    else
      return x;
  }
};

// C = alpha A B + beta C0, A m x k and B k x n; alpha and beta are real. C0 is read where beta is not 0.
template <class T>
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  View<T> a = {}, b = {};
  typename Parts<T>::Real alpha = 1, beta = 0;
  View<T> c0 = {};
};

// Of |C - exact| / (|alpha| |A||B| + |beta| |C0|), over the entries compared. The real and the imaginary part of a
// complex entry are compared one by one, each with the absolute values of the 2k terms that it is the sum of for
// |A||B|.
struct SampledError {
  std::int64_t samples = 0;  // entries, or parts of them, looked at
  std::int64_t compared = 0;
  std::int64_t special = 0;  // NaN or infinity, as it should be; what is left may over- or underflow, and has no error
  double mean = 0;
  double max = 0;
};

template <class T>
class ExactSample {
 public:
  struct Entry {
    std::int64_t i, j;
    int part;          // 1: the imaginary part of a complex entry
    double high, low;  // the exact entry is high + low up to 2^-106 |high|
    double magnitude;  // |alpha| |A||B| + |beta| |C0|
    bool special;      // made of NaN or infinities: high alone counts, as a class
  };

  // min(count, m n) entries, with both parts: all of them where count allows, else drawn with replacement from the
  // seed.
  ExactSample(const Product<T>& product, std::int64_t count, std::uint64_t seed);

  SampledError errors(View<T> c) const;

 private:
  double error(const Entry& entry, double value) const;

  std::vector<Entry> entries_;
};

}  // namespace vernier::cli
