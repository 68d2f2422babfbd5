// What LU does between its panels on a GPU: exchanges of rows, triangular solves with up to 256 rows, small updates.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "lapack/lu/panel.hpp"
#include "split/plane.hpp"

namespace vernier::cuda {

inline constexpr int largest_block = 256;  // rows of a triangle

// Exchanges of several panels as those of one: entry i of `rows` says which row is row i now, entry r of `places` where
// row r went. Both begin as i -> i.
struct RowOrder {
  int* rows = nullptr;
  int* places = nullptr;  // null: not kept

  Exchanges exchanges() const { return {rows, places}; }
};

struct ColumnRange {
  std::int64_t begin = 0, end = 0;  // multiples of 4

  std::int64_t size() const { return end > begin ? end - begin : 0; }
};

template <class T>
struct BlockTask {
  RowMajor<T> a;
  int first = 0, order = 0;  // rows [first, first + order); order a multiple of 4, at most largest_block
  bool exchange = true;      // rows in all ranges, as `exchanges` says
  Exchanges exchanges = {};
  bool scale = false;          // solved rows are divided by the elements on the diagonal, last
  ColumnRange solved = {};     // whose rows become L^-1 of themselves, L in columns [first, first + order)
  ColumnRange others[2] = {};  // whose rows are exchanged only
  RowOrder followed = {};      // the exchanges are noted here too, if rows is not null
  RowOrder reset = {};         // entries from `first + order` to `reset_end` begin anew, if rows is not null
  int reset_end = 0;
  // Solved columns of float, when the order is largest_block, are split here as well (SplitForm::half_shifted): the
  // plane's first vector is the first of them. The status is not written.
  SplitPlane plane = {};
  // And rows of L in these columns, as they are, into a plane of their own.
  ColumnRange split_rows = {};
  SplitPlane row_plane = {};
  // Row `first + r` of L is row first + r here instead of in a, if data is not null.
  RowMajor<const float> triangle = {};
  bool beside_panel = false;  // the kernel before is a panel, beside which this one begins and after which it ends
};

template <class T>
void exchange_and_solve(const BlockTask<T>& task, cudaStream_t stream);

// A -= L U in rows [first_row, rows) and the columns of the range: L in columns [first, first + depth), U in the rows
// of those numbers. For small depths, multiples of 4.
template <class T>
void subtract_small_product(const RowMajor<T>& a, int rows, int first_row, const ColumnRange& columns, int first,
                            int depth, cudaStream_t stream);

}  // namespace vernier::cuda
