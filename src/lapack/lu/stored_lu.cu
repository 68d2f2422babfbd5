#include "lapack/lu/stored_lu_cuda.hpp"

#include <algorithm>

#include "base/instantiate.hpp"
#include "cuda/cublas.hpp"
#include "cuda/launch.hpp"
#include "cuda/turn.cuh"
#include "lapack/lu/lu_blocks.hpp"

namespace vernier::cuda {
namespace {

constexpr int buffer_columns = 2 * largest_block;

// Columns [first, first + 32 gridDim.y) of the scaled matrix, rows in the order of `permutation`, into the buffer; ones
// on the diagonal of the padding.
template <class T>
__global__ void load_block_kernel(ScaledMatrix<T> matrix, const int* permutation, int first, RowMajor<float> to) {
  move_tile_of_block<float>(
      true,
      [&](std::int64_t line, std::int64_t place) {
        const std::int64_t row = permutation[place], column = first + line;
        if (row >= matrix.a.n || column >= matrix.a.n) return row == column ? 1.0f : 0.0f;
        return static_cast<float>(static_cast<double>(matrix.a.data[row + column * matrix.a.ld]) *
                                  matrix.row_factors[row] * matrix.column_factors[column]);
      },
      [&](std::int64_t place, std::int64_t line, float x) { *to.at(place, first + line) = x; });
}

template <class Word>
struct RoundTask {
  RowMajor<float> from;
  RowMajor<Word> to;
  int first;  // row
  ColumnRange columns;
  int existing;               // columns that are no padding
  RowMajor<float> triangles;  // whose rows become those of blocks on the diagonal, rounded
  int *overflow, *info;
};

// A row a block.
template <class Word>
__global__ void __launch_bounds__(largest_block) round_kernel(RoundTask<Word> t) {
  const std::int64_t row = t.first + blockIdx.x, column = t.columns.begin + blockIdx.y * largest_block + threadIdx.x;
  if (column >= t.columns.end) return;
  const Word rounded(*t.from.at(row, column));  // to nearest even
  const auto x = static_cast<float>(rounded);
  *t.to.at(row, column) = rounded;
  if (row / largest_block == column / largest_block) *t.triangles.at(row, column % largest_block) = x;
  if (!isfinite(x)) *t.overflow = 1;
  if (row == column && x == 0 && column < t.existing) atomicMin(t.info, static_cast<int>(column) + 1);
}

template <class T, class Word>
class Stored : Factorisation<float> {
 public:
  Stored(const ScaledMatrix<T>& matrix, DeviceLu<Word>& lu, cudaStream_t stream)
      : Factorisation(lu, {}, stream),
        matrix_(matrix),
        stored_(lu.a),
        pairs_{reinterpret_cast<float*>(lu.a.data), lu.a.ld / 2},
        memory_(static_cast<std::size_t>(lu.rows) * (buffer_columns + largest_block) * sizeof(float) + sizeof(int),
                stream),
        buffer_(reinterpret_cast<float*>(memory_.data())),
        triangles_{buffer_ + lu.rows * buffer_columns, largest_block},
        overflow_(reinterpret_cast<int*>(triangles_.data + lu.rows * largest_block)),
        cublas_(thread_cublas()) {
    cublas_.set_stream(stream);
    cublas_.set_pointer_mode(CUBLAS_POINTER_MODE_HOST);
  }

  bool run() {
    begin_rows(lu_, stream_);
    check(cudaMemsetAsync(overflow_, 0, sizeof(int), stream_), "cudaMemsetAsync");
    for (int begin = 0; begin < rows_; begin += buffer_columns) factor_columns_from(begin);
    int overflow = 0;
    check(cudaMemcpyAsync(&overflow, overflow_, sizeof overflow, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "LU on the GPU");
    return overflow == 0;
  }

 private:
  void factor_columns_from(int begin) {
    const ColumnRange all = {begin, std::min(begin + buffer_columns, rows_)};
    a_ = {buffer_ - begin, buffer_columns};  // so that columns keep their numbers
    launch("load_block_kernel", load_block_kernel<T>,
           {.grid = turned_tiles(rows_, all.size()), .block = turning_threads()}, stream_, matrix_, lu_.permutation,
           begin, a_);
    update(0, begin, all);
    subtract_product(begin, rows_, all, 0, begin);
    for (int first = begin; first < all.end; first += largest_block) {
      const int end = std::min<int>(first + largest_block, static_cast<int>(all.end));
      factor_block(first, end, [](int, int) {});
      finish_block(first, end, {end, all.end});
    }
  }

  // Rounds the block, and does to the columns before and behind it, in the buffer, what follows from it.
  void finish_block(int first, int end, const ColumnRange& behind) {
    round(first, rows_, {first, end});
    if (behind.size() > 0) solve(outside(first, end, behind, {}, {}));
    BlockTask<float> task = outside(first, end, {}, {0, first / 2}, {});
    task.a = pairs_;  // two stored numbers move as one float
    close_block(task);
    subtract_product(end, rows_, behind, first, end);
  }

  // Of the buffer into what is stored.
  void round(int first, int end, const ColumnRange& columns) {
    const dim3 grid(static_cast<unsigned>(end - first),
                    static_cast<unsigned>(divide_up(columns.size(), largest_block)));
    launch("round_kernel", round_kernel<Word>, {.grid = grid, .block = largest_block}, stream_,
           RoundTask<Word>{a_, stored_, first, columns, static_cast<int>(lu_.n), triangles_, overflow_, lu_.info});
  }

  // By L as it is stored; what is solved is rounded.
  void solve(BlockTask<float> task) {
    task.triangle = {triangles_.data, triangles_.ld};
    exchange_and_solve<float>(task, stream_);
    round(task.first, task.first + task.order, task.solved);
  }

  // Rows [first, end) of the buffer become those of U, rounded, in columns `range`.
  void update(int first, int end, const ColumnRange& range) {
    if (end == first) return;
    if (end - first <= largest_block)
      return solve({.a = a_, .first = first, .order = end - first, .exchange = false, .solved = range});
    const int mid = first + static_cast<int>(round_up((end - first) / 2, largest_block));
    update(first, mid, range);
    subtract_product(mid, end, range, first, mid);
    update(mid, end, range);
  }

  // Buffer -= L U in rows [row, row_end) of the range, by what is stored; L in columns [first, end).
  void subtract_product(int row, int row_end, const ColumnRange& range, int first, int end) {
    if (row_end <= row || range.size() == 0 || end == first) return;
    const float minus_one = -1, one = 1;
    cublas_.gemm_ex(Op::none, Op::none, range.size(), row_end - row, end - first, &minus_one,
                    stored_.at(first, range.begin), StoredWord<Word>::blas_type, stored_.ld, stored_.at(row, first),
                    StoredWord<Word>::blas_type, stored_.ld, &one, a_.at(row, range.begin), CUDA_R_32F, a_.ld,
                    CUBLAS_COMPUTE_32F);
  }

  ScaledMatrix<T> matrix_;
  RowMajor<Word> stored_;
  RowMajor<float> pairs_;  // the same memory
  DeviceWorkspace memory_;
  float* buffer_;
  RowMajor<float> triangles_;  // blocks on the diagonal, one below the other
  int* overflow_;
  Cublas& cublas_;
};

}  // namespace

template <class T, class Word>
bool factor_stored_on_device(const ScaledMatrix<T>& matrix, DeviceLu<Word>& lu, cudaStream_t stream) {
  return Stored<T, Word>(matrix, lu, stream).run();
}

template struct Instances<factor_stored_on_device<float, __half>, factor_stored_on_device<double, __half>,
                          factor_stored_on_device<float, __nv_bfloat16>,
                          factor_stored_on_device<double, __nv_bfloat16>>;

}  // namespace vernier::cuda
