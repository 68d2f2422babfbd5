// One thread's share of a replayed product: a band of rows of A, packed, against one strip of columns of B after the
// other.
#pragma once

#include <cstdint>
#include <vector>

#include "model/spec.hpp"
#include "model/tile.hpp"

namespace vernier::model {

inline constexpr int largest_block = 256;
inline constexpr int band_rows = 256;  // packing a strip of B costs as much as some ten rows

// Instructions [begin, end) are summed inside the engine.
struct Run {
  std::int64_t begin = 0, end = 0;
  bool starts_part = false;
};

struct ProductOrder {
  std::vector<std::int64_t> k;  // engine.k entries per instruction; -1 is a padding zero
  std::vector<Run> runs;
};

struct StripOperands {  // as in multiply()
  const void* A;
  std::int64_t lda;
  const void* B;
  std::int64_t ldb;
  const void* C;
  void* D;
  std::int64_t ldc;
};

class StripProduct {
 public:
  // path: null for the scalar model. runs_move_out: each run is summed from zero and added outside the engine.
  StripProduct(const Engine& e, const VectorPath* path, const ProductOrder& order, int rows, int columns,
               bool runs_move_out);

  // Rows i ... i + rows of columns j ... j + width; no more of either than the constructor was told.
  void compute(const StripOperands& x, std::int64_t i, int rows, std::int64_t j, int width);

 private:
  static constexpr int widest = 16, group_rows = 4;
  struct Group {  // of rows that are computed together
    int first, count;
  };
  struct Words {
    std::uint64_t word[group_rows][widest] = {};
  };

  std::size_t at(int i) const { return static_cast<std::size_t>(i) * kp_; }
  void load_rows(const StripOperands& x, std::int64_t i, int rows);
  void load_columns(const StripOperands& x, std::int64_t j, int width);
  Words products(const Group& group, const Words& c) const;
  void add_outside(const Group& group, Words& to, const Words& from) const;
  void advance(const Group& group, const Run& run, Words& c) const;
  void advance_scalar(int row, const Run& run, std::uint64_t* c) const;
  void advance_vector(const Group& group, const Run& run, Words& c) const;
  static std::uint32_t scalar_block(const void* context, int row, int q, int j, std::uint32_t c);

  const Engine& e_;
  const VectorPath* path_;
  const ProductOrder& order_;
  std::size_t kp_;
  int columns_;
  bool runs_move_out_;
  std::int64_t loaded_row_ = -1;
  std::vector<char> row_odd_;  // does the row hold an infinity or a NaN?
  bool columns_odd_ = false;
  std::vector<std::uint64_t> a_words_, b_words_;
  std::vector<float> a_significand_, b_significand_;
  std::vector<std::int32_t> a_exponent_, b_exponent_;
};

}  // namespace vernier::model
