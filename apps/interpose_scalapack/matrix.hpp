// A part of a distributed matrix, and what of it lies here.
#pragma once

#include <vernier/vernier_distributed.h>

#include <cstdint>
#include <vector>

#include "pblas.hpp"

namespace vernier::interpose {

struct Grid {
  int context = -1, rows = 0, columns = 0, row = 0, column = 0;
  bool here() const { return row >= 0 && column >= 0; }
};
Grid grid_of(int context);

// One dimension of a sub-matrix: count indices from `first` on (from 0), dealt out in blocks of which the first may be
// of another size.
struct Cut {
  int first, count, matrix_block, block, source, processes;

  int block_of(int index) const { return index < matrix_block ? 0 : 1 + (index - matrix_block) / block; }
  int begin_of(int which) const { return which == 0 ? 0 : matrix_block + (which - 1) * block; }

  // Are they dealt out alike, index by index?
  bool same_as(const Cut& other) const {
    return count == other.count && processes == other.processes &&
           (count == 0 ||
            (block == other.block && first_block() == other.first_block() && first_process() == other.first_process()));
  }
  // body(count, process) for each block, in order.
  template <class Body>
  void for_each_block(Body body) const {
    int process = count > 0 ? first_process() : 0;
    for (int done = 0, now = first_block(); done < count; process = (process + 1) % processes) {
      body(now, process);
      done += now;
      now = count - done < block ? count - done : block;
    }
  }
  Cut shortened(int to) const { return {first, to, matrix_block, block, source, processes}; }
  int first_block() const;    // indices in the block that it begins in
  int first_process() const;  // which has them
  int most_local() const;     // of any process, at most
  int first_of(int process) const { return (process - source + processes) % processes; }  // its first block
};

// Rows or columns of a sub-matrix that lie on one process: they follow one another in its memory.
struct Local {
  std::int64_t begin = 0;             // in the local array
  std::vector<std::int64_t> indices;  // in the sub-matrix
};
Local local_of(const Cut& cut, int process);

// Rows i .. i + m - 1 and columns j .. j + n - 1 (from 1, as programs count) of a matrix.
class SubMatrix {
 public:
  SubMatrix(const Grid& grid, const int* descriptor, int i, int j, int m, int n);

  bool valid() const { return valid_; }  // inside the matrix, and of the kind that this preload knows
  int most_rows() const { return rows_.most_local(); }
  int most_columns() const { return columns_.most_local(); }
  int most_rows(int count) const { return rows_.shortened(count).most_local(); }  // of so many rows in all
  int most_columns(int count) const { return columns_.shortened(count).most_local(); }
  double entries() const { return static_cast<double>(rows_.count) * columns_.count; }  // on all processes
  const Cut& rows_cut() const { return rows_; }
  const Cut& columns_cut() const { return columns_; }
  int row_block() const { return rows_.block; }
  int column_block() const { return columns_.block; }

  // After valid(): what lies here of it, in the matrix' own memory; false where the columns of the matrix there are too
  // short.
  bool find_local(const Grid& grid);
  std::int64_t row_count() const { return static_cast<std::int64_t>(local_rows_.indices.size()); }
  std::int64_t column_count() const { return static_cast<std::int64_t>(local_columns_.indices.size()); }
  std::int64_t count() const { return row_count() * column_count(); }
  std::int64_t ld() const { return row_count() > 1 ? row_count() : 1; }  // of a local copy
  const std::vector<std::int64_t>& rows() const { return local_rows_.indices; }
  const std::vector<std::int64_t>& columns() const { return local_columns_.indices; }
  vernier_part part(const void* a, std::size_t element) const;
  vernier_part copied(const void* copy) const;

  // body(local row, local column, row - column) for each local entry.
  template <class Body>
  void for_each(Body body) const {
    for (std::int64_t j = 0; j < column_count(); ++j)
      for (std::int64_t i = 0; i < row_count(); ++i)
        body(i, j, rows()[static_cast<std::size_t>(i)] - columns()[static_cast<std::size_t>(j)]);
  }

  // The same as a matrix of its own, of the local copy.
  InnerDescriptor inner() const;

 private:
  int context_, lld_;
  Cut all_rows_, all_columns_;  // of the matrix
  Cut rows_, columns_;
  bool valid_;
  Local local_rows_, local_columns_;
};

}  // namespace vernier::interpose
