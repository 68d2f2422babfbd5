// Batches of products of matrices that lie anywhere, as the routines of vernier.hpp and cuda.hpp take them.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vernier/vernier.hpp>

#include "array.hpp"

namespace vernier::python {

// The first matrix of a batch as a column-major gemm sees it: where rows are contiguous, memory holds the transpose.
struct Matrix {
  void* data = nullptr;
  bool by_rows = true;
  std::int64_t leading = 1;
};

// Does a leading dimension describe the last two dimensions? `matrix` is set if so.
bool as_matrix(void* data, const std::int64_t shape[2], const std::int64_t strides[2], Matrix& matrix);

// C = A B for each of a batch: A m x k, B k x n. Strides are in elements; 0 where one matrix serves all.
struct Batch {
  Kind kind = Kind::float64;
  int device = on_cpu;
  std::int64_t m = 0, n = 0, k = 0;
  Matrix a, b, c;
  int dimensions = 0;
  std::int64_t sizes[max_dimensions] = {};
  std::int64_t strides_a[max_dimensions] = {}, strides_b[max_dimensions] = {}, strides_c[max_dimensions] = {};
};

// Joins dimensions of the batch that are one in all three arrays, and makes one product of many with the same B where
// `fold` allows it: A's rows follow one another then.
void simplify(Batch& batch, bool fold);

// f(T{}) for the type of that kind.
template <class F>
auto with_type(Kind kind, F&& f) {
  switch (kind) {
    case Kind::float32:
      return f(float{});
    case Kind::float64:
      return f(double{});
    case Kind::complex64:
      return f(std::complex<float>{});
    default:
      return f(std::complex<double>{});
  }
}

struct Request {
  Contract contract = {};
  std::string engine = {};
  int threads = 0;
  void* stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  std::function<void(double)> progress = {};
};

// "" is fp32 for float32 and complex64, else fp64.
Contract contract_of(const std::string& text, Kind kind);

// Bytes of device memory with which a single product runs at full speed. 0 for batches and native products, which take
// none.
std::size_t workspace_of(const Batch& batch, const Request& request);

// The report is that of the first product of several; its seconds are those of all, its fallback that of any.
Report multiply(const Batch& batch, const Request& request);

// The plan of one product, by rows.
Plan explain(Kind kind, bool on_gpu, std::int64_t m, std::int64_t n, std::int64_t k, const Request& request);

}  // namespace vernier::python
