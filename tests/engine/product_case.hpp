// An int8 product with operands in the panel format, and what it must give.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/int8_engine.hpp"

namespace vernier::test {

// Memory on a boundary of 64 bytes that guard bytes follow.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t bytes);
  std::int8_t* data() { return data_; }
  const std::int8_t* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool guard_intact() const;

 private:
  std::vector<std::int8_t> memory_;
  std::int8_t* data_;
  std::size_t size_;
};

struct Shape {
  std::int64_t column_strips = 1, row_strips = 1, steps = 1;
};

enum class Values { random, smallest, largest, opposite, ends };  // opposite: rows largest, columns smallest

class ProductCase {
 public:
  // with_zeros: of each strip some steps are zeros, whose memory holds something else.
  ProductCase(const Shape& shape, int modulus, Values values, bool accumulate = false, bool with_zeros = false);

  // multiply(const Int8Product&) with everything else in place; what is wrong with its result, "" if nothing is.
  template <class Multiply>
  std::string mismatch(std::size_t scratch_bytes, Multiply multiply) {
    AlignedBytes scratch(scratch_bytes);
    prepare(scratch.data());
    multiply(product_);
    return judge(scratch);
  }

 private:
  void fill(Values values);
  void set_zeros();
  void compute_expected();
  void prepare(void* scratch);
  std::string judge(const AlignedBytes& scratch) const;
  std::string label() const;

  Shape shape_;
  int modulus_;
  bool accumulate_;
  std::int64_t out_strips_;                              // one more than the rows fill
  std::vector<std::int8_t> row_values_, column_values_;  // [vector][k]
  std::vector<FilledSteps> filled_rows_, filled_columns_;
  AlignedBytes rows_, columns_, old_, expected_, out_;
  Int8Product product_;
};

}  // namespace vernier::test
