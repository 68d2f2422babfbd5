// Panels of LU with partial pivoting on a GPU, each factorised by 16 blocks that hold it in registers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace vernier::cuda {

// Matrices of the factorisation lie in device memory row by row: exchanging rows, which LU does all the time, then
// moves whole lines of memory. Rows and columns are counted from 0.
template <class T>
struct RowMajor {
  T* data = nullptr;
  std::int64_t ld = 0;  // a multiple of 128, data aligned to 256 bytes

  __host__ __device__ T* at(std::int64_t row, std::int64_t column) const { return data + row * ld + column; }
};

// What a panel of columns [first, first + width) did to the rows: row from[first + q] is now row first + q, and what
// had been there is now row to[first + q].
struct Exchanges {
  int* from = nullptr;
  int* to = nullptr;
};

template <class T>
struct PanelTask {
  RowMajor<T> a;
  int rows = 0;   // of A
  int first = 0;  // rows from there on take part
  Exchanges exchanges;
  int* pivots = nullptr;  // as LAPACK's, counted from 1
  int* info = nullptr;    // the least column, counted from 1, below `columns` whose pivot is zero
  int columns = 0;
  void* mail = nullptr;  // panel_mail_bytes of device memory, for blocks that are no cluster
};

inline constexpr std::size_t panel_mail_bytes = 16384;

// Columns that a panel with so many rows has; 0: too many rows.
template <class T>
int panel_width(std::int64_t rows);

// Factorises columns [first, first + panel_width(rows - first)) as getf2 does. In columns that are zero, nothing is
// exchanged. Occupies panel_multiprocessors, and as a cluster lets the next kernel of the stream begin beside it if
// that was launched with overlap_previous.
template <class T>
void factor_panel(const PanelTask<T>& task, cudaStream_t stream);

// The same by a cluster, as Hopper has it, and by blocks of any GPU: factor_panel() is one of them. The same bits.
template <class T>
void factor_panel_by_cluster(const PanelTask<T>& task, cudaStream_t stream);
template <class T>
void factor_panel_in_memory(const PanelTask<T>& task, cudaStream_t stream);

inline constexpr int panel_multiprocessors = 16;

}  // namespace vernier::cuda
