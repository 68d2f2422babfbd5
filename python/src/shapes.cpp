#include "shapes.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace vernier::python {
namespace {

int batch_dimensions(const Array& x) { return std::max(0, x.dimensions - 2); }
std::int64_t rows_of_a(const Array& a) { return a.dimensions == 1 ? 1 : a.shape[a.dimensions - 2]; }
std::int64_t rows_of_b(const Array& b) { return b.dimensions == 1 ? b.shape[0] : b.shape[b.dimensions - 2]; }
std::int64_t columns_of_b(const Array& b) { return b.dimensions == 1 ? 1 : b.shape[b.dimensions - 1]; }

// Size and stride of x along dimension d of a batch of `all` dimensions.
std::int64_t size_along(const Array& x, int d, int all) {
  const int own = d - (all - batch_dimensions(x));
  return own < 0 ? 1 : x.shape[own];
}
std::int64_t stride_along(const Array& x, int d, int all) {
  const int own = d - (all - batch_dimensions(x));
  return own < 0 || x.shape[own] == 1 ? 0 : x.strides[own];
}

std::string text(const Array& x) { return shape_text(x.shape, x.dimensions); }

// An empty batch: NumPy's strides say nothing then.
bool place_nothing(Batch& batch) {
  const auto by_rows = [](std::int64_t columns) { return Matrix{nullptr, true, std::max<std::int64_t>(1, columns)}; };
  batch.a = by_rows(batch.k), batch.b = by_rows(batch.n), batch.c = by_rows(batch.n);
  batch.dimensions = 1;
  batch.sizes[0] = 0;
  return true;
}

void refuse_inner(const Array& a, const Array& b) {
  throw nb::value_error(("matmul: a of shape " + text(a) + " has " + std::to_string(a.shape[a.dimensions - 1]) +
                         " columns and b of shape " + text(b) + " has " + std::to_string(rows_of_b(b)) +
                         " rows; they must be equal")
                            .c_str());
}

void refuse_batches(const Array& a, const Array& b) {
  throw nb::value_error(("matmul: the batches " + shape_text(a.shape, batch_dimensions(a)) + " of a and " +
                         shape_text(b.shape, batch_dimensions(b)) + " of b do not broadcast")
                            .c_str());
}

}  // namespace

std::string shape_text(const std::int64_t* shape, int dimensions) {
  std::string all = "(";
  for (int i = 0; i < dimensions; ++i) all += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return all + (dimensions == 1 ? ",)" : ")");
}

Shape result_shape(const Array& a, const Array& b) {
  for (const auto* x : {&a, &b})
    if (x->dimensions == 0)
      throw nb::value_error((std::string("matmul: ") + (x == &a ? "a" : "b") +
                             " is a scalar; one dimension at least is expected; use * to scale")
                                .c_str());
  if (a.shape[a.dimensions - 1] != rows_of_b(b)) refuse_inner(a, b);
  Shape result;
  const int all = std::max(batch_dimensions(a), batch_dimensions(b));
  for (int d = 0; d < all; ++d) {
    const auto of_a = size_along(a, d, all), of_b = size_along(b, d, all);
    if (of_a != of_b && of_a != 1 && of_b != 1) refuse_batches(a, b);
    result.sizes[result.dimensions++] = of_a == 1 ? of_b : of_a;
  }
  if (a.dimensions > 1) result.sizes[result.dimensions++] = rows_of_a(a);
  if (b.dimensions > 1) result.sizes[result.dimensions++] = columns_of_b(b);
  return result;
}

bool place(const Array& a, const Array& b, const Array& c, Batch& batch, char& which) {
  batch.kind = a.kind, batch.device = a.device;
  batch.m = rows_of_a(a), batch.k = a.shape[a.dimensions - 1], batch.n = columns_of_b(b);
  const auto stride = [](const Array& x, int from_last) {
    return x.dimensions < from_last ? 0 : x.strides[x.dimensions - from_last];
  };
  const std::int64_t shape_a[] = {batch.m, batch.k}, strides_a[] = {stride(a, 2), stride(a, 1)};
  const std::int64_t shape_b[] = {batch.k, batch.n};
  const std::int64_t strides_b[] = {stride(b, b.dimensions == 1 ? 1 : 2), b.dimensions == 1 ? 1 : stride(b, 1)};
  const int columns_of_c = b.dimensions == 1 ? 0 : 1, rows_of_c = a.dimensions == 1 ? 0 : columns_of_c + 1;
  const std::int64_t shape_c[] = {batch.m, batch.n};
  const std::int64_t strides_c[] = {rows_of_c > 0 ? stride(c, rows_of_c) : 1, columns_of_c > 0 ? stride(c, 1) : 1};
  for (int d = 0; d < std::max(batch_dimensions(a), batch_dimensions(b)); ++d)
    if (c.shape[d] == 0) return place_nothing(batch);
  which = 'a';
  if (!a.regular || !as_matrix(a.data, shape_a, strides_a, batch.a)) return false;
  which = 'b';
  if (!b.regular || !as_matrix(b.data, shape_b, strides_b, batch.b)) return false;
  which = 'c';
  if (!c.regular || !as_matrix(c.data, shape_c, strides_c, batch.c)) return false;
  batch.dimensions = std::max(batch_dimensions(a), batch_dimensions(b));
  for (int d = 0; d < batch.dimensions; ++d) {
    batch.sizes[d] = c.shape[d], batch.strides_c[d] = c.strides[d];
    batch.strides_a[d] = stride_along(a, d, batch.dimensions);
    batch.strides_b[d] = stride_along(b, d, batch.dimensions);
    if (batch.strides_c[d] < 0 && batch.sizes[d] > 1) return false;  // the batched routines want them apart
  }
  return true;
}

bool ranges_meet(const Array& x, const Array& y) {
  const auto range = [](const Array& z, std::int64_t& first, std::int64_t& last) {
    first = last = 0;
    for (int d = 0; d < z.dimensions; ++d) {
      if (z.shape[d] == 0) return false;
      (z.strides[d] < 0 ? first : last) += (z.shape[d] - 1) * z.strides[d];
    }
    const auto start = reinterpret_cast<std::int64_t>(z.data);
    first = start + first * bytes_of(z.kind), last = start + (last + 1) * bytes_of(z.kind);
    return true;
  };
  std::int64_t x_first, x_last, y_first, y_last;
  return range(x, x_first, x_last) && range(y, y_first, y_last) && x_first < y_last && y_first < x_last;
}

bool meets_itself(const Array& x) {
  std::pair<std::int64_t, std::int64_t> steps[max_dimensions];  // magnitude of the stride, size
  int count = 0;
  for (int d = 0; d < x.dimensions; ++d) {
    if (x.shape[d] == 0) return false;
    if (x.shape[d] > 1) steps[count++] = {std::abs(x.strides[d]), x.shape[d]};
  }
  std::sort(steps, steps + count);
  std::int64_t reach = 0;  // from the first element to the last of the dimensions so far
  for (int i = 0; i < count; ++i) {
    if (steps[i].first <= reach) return true;
    reach += steps[i].first * (steps[i].second - 1);
  }
  return false;
}

}  // namespace vernier::python
