// NumPy's rules of matmul: which matrices two arrays hold, how their batches broadcast, what shape comes out.
#pragma once

#include <string>

#include "multiply.hpp"

namespace vernier::python {

std::string shape_text(const std::int64_t* shape, int dimensions);  // "(2, 3)"

struct Shape {
  int dimensions = 0;
  std::int64_t sizes[max_dimensions] = {};
};

// The shape of a @ b; throws nb::value_error where they do not fit.
Shape result_shape(const Array& a, const Array& b);

// Places the three arrays in a batch. False where one of them has strides that no leading dimension describes: `which`
// is then 'a', 'b' or 'c'.
bool place(const Array& a, const Array& b, const Array& c, Batch& batch, char& which);

// Do two arrays share an address between their first and their last element?
bool ranges_meet(const Array& x, const Array& y);

// May two elements of x share memory? False only where the strides, from the smallest, each step over all before.
bool meets_itself(const Array& x);

}  // namespace vernier::python
