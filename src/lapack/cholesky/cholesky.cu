// Blocks of 128 rows. fp32 by products of split matrices: right-looking; the next rows are updated first, and their
// block on the diagonal is factorised beside the rest of the update. Otherwise: recursive, as LU is.
#include "lapack/cholesky/cholesky.hpp"

#include <climits>
#include <type_traits>

#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "cuda/turn.cuh"
#include "lapack/cholesky/diagonal.cuh"
#include "split/convert/convert.hpp"
#include "split/product/sm90_split.hpp"

namespace vernier::cuda {
namespace {

constexpr int block = diagonal_order;

template <class T>
class CholeskyBlocks {
 public:
  CholeskyBlocks(DeviceLu<T>& a, cudaStream_t stream)
      : a_(a), stream_(stream), size_(static_cast<int>(a.rows)), order_(static_cast<int>(a.n)) {}

 protected:
  void factor_diagonal_block(int first) { factor_diagonal<T>({a_.a, first, order_, a_.info}, stream_); }

  // Rows [first, first + block) of the range become those of U.
  void solve_block(int first, const ColumnRange& range) {
    if (range.size() == 0) return;
    exchange_and_solve<T>(
        {.a = a_.a, .first = first, .order = block, .exchange = false, .scale = true, .solved = range}, stream_);
  }

  DeviceLu<T>& a_;
  cudaStream_t stream_;
  int size_, order_;  // padded; not padded
};

class RightLooking : CholeskyBlocks<float> {
 public:
  RightLooking(DeviceLu<float>& a, cudaStream_t stream)
      : CholeskyBlocks(a, stream), memory_(plane_bytes(a.rows), stream) {
    Arena arena = memory_.arena();
    plane_ = take_plane(arena, a.rows);
  }

  void run() {
    factor_diagonal_block(0);
    for (int first = 0, end = block; end < size_; first = end, end += block) {
      solve_block(first, {end, size_});
      split(first, end);
      update({end, end + block}, false);
      factor_diagonal_block(end);
      update({end + block, size_}, true);
    }
  }

 private:
  static constexpr SplitForm form = SplitForm::half_shifted;

  static SplitPlane take_plane(Arena& arena, std::int64_t vectors) {
    return SplitPlane::take(arena, vectors, split_line_count(form, block));
  }
  static std::size_t plane_bytes(std::int64_t vectors) {
    Arena count;
    take_plane(count, vectors);
    return count.used();
  }

  // Columns of U in rows [first, end), from `column` on.
  FloatVectors vectors(int column, int count) const { return {a_.a.at(first_, column), count, block, 1, a_.a.ld}; }
  SplitPlane plane(int column) const { return plane_.from(column - first_ - block); }

  // All of them are both factors of the products; half of them at a time, as what splits takes two operands.
  void split(int first, int end) {
    first_ = first;
    const int half = (size_ - end) / 2;
    split_operands(form, {vectors(end, half), plane(end)}, {vectors(end + half, half), plane(end + half)}, {}, stream_);
  }

  // A -= U^T U in these rows, from their diagonal on.
  void update(const ColumnRange& rows, bool beside) {
    if (rows.size() == 0) return;
    const int begin = static_cast<int>(rows.begin), count = size_ - begin;
    const int all = current_device().multiprocessors;
    update_split({.a = vectors(begin, count),
                  .b = vectors(begin, static_cast<int>(rows.size())),
                  .a_plane = plane(begin),
                  .b_plane = plane(begin),
                  .alpha = {-1, nullptr},
                  .beta = {1, nullptr},
                  .c = a_.a.at(begin, begin),
                  .ldc = a_.a.ld,
                  .beside_previous = beside,
                  .multiprocessors = beside ? all - 2 : 0,  // clusters have two
                  .triangle = true},
                 stream_);
  }

  DeviceWorkspace memory_;
  SplitPlane plane_;
  int first_ = 0;  // rows that the plane holds
};

template <class T>
class RecursiveCholesky : CholeskyBlocks<T> {
  using Base = CholeskyBlocks<T>;
  using Base::a_;

 public:
  RecursiveCholesky(DeviceLu<T>& a, const Contract& contract, cudaStream_t stream)
      : Base(a, stream), options_{.contract = contract, .stream = stream} {}

  void run() { factor(0, this->size_); }

 private:
  static constexpr int smallest_square = 2048;  // whose other triangle is not worth a second product

  static int middle(int first, int end) { return first + static_cast<int>(round_up((end - first) / 2, block)); }

  void factor(int first, int end) {
    if (end - first <= block) return this->factor_diagonal_block(first);
    const int mid = middle(first, end);
    factor(first, mid);
    solve(first, mid, {mid, end});
    subtract_square(mid, end, first, mid);
    factor(mid, end);
  }

  void solve(int first, int end, const ColumnRange& range) {
    if (end - first <= block) return this->solve_block(first, range);
    const int mid = middle(first, end);
    solve(first, mid, range);
    subtract_product(mid, end, range, first, mid);
    solve(mid, end, range);
  }

  void subtract_square(int begin, int end, int first, int last) {
    if (end - begin <= smallest_square) return subtract_product(begin, end, {begin, end}, first, last);
    const int mid = middle(begin, end);
    subtract_square(begin, mid, first, last);
    subtract_product(begin, mid, {mid, end}, first, last);
    subtract_square(mid, end, first, last);
  }

  // A -= U^T U in rows [row, row_end) of the range; U in rows [first, end). Row by row, A is the transpose of a
  // column-major matrix.
  void subtract_product(int row, int row_end, const ColumnRange& range, int first, int end) {
    const T minus_one = -1, one = 1;
    gemm(Op::none, Op::transpose, range.size(), row_end - row, end - first, &minus_one, a_.a.at(first, range.begin),
         a_.a.ld, a_.a.at(first, row), a_.a.ld, &one, a_.a.at(row, range.begin), a_.a.ld, options_);
  }

  Options options_;
};

__global__ void begin_info(int* info) { *info = INT_MAX; }

// ---- layouts -------------------------------------------------------------------------------------------------------

// Columns of a lower triangle are rows of its transpose; an upper one is turned round.
template <class T>
__global__ void load_triangle_kernel(bool lower, std::int64_t n, const T* a, std::int64_t lda, RowMajor<T> to) {
  move_tile_of_block<T>(
      !lower,
      [&](std::int64_t column, std::int64_t row) {
        if (row >= n || column >= n) return row == column ? T(1) : T(0);
        return (lower ? row >= column : row <= column) ? a[row + column * lda] : T(0);
      },
      [&](std::int64_t row, std::int64_t column, T x) { *to.at(row, column) = x; });
}

template <class T>
__global__ void store_triangle_kernel(bool lower, std::int64_t n, RowMajor<T> from, T* a, std::int64_t lda) {
  move_tile_of_block<T>(
      !lower, [&](std::int64_t row, std::int64_t column) { return *from.at(row, column); },
      [&](std::int64_t column, std::int64_t row, T x) {
        if (row < n && column < n && (lower ? row >= column : row <= column)) a[row + column * lda] = x;
      });
}

template <class T>
__global__ void fill_symmetric_kernel(bool lower, bool other, std::int64_t n, const T* a, std::int64_t lda, T* to) {
  move_tile_of_block<T>(
      other,
      [&](std::int64_t column, std::int64_t row) {
        return row < n && column < n && (lower ? row >= column : row <= column) ? a[row + column * lda] : T(0);
      },
      [&](std::int64_t column, std::int64_t row, T x) {
        const bool stored = lower ? row >= column : row <= column;
        if (row < n && column < n && stored != other) to[row + column * n] = x;
      });
}

}  // namespace

template <class T>
void load_triangle(DeviceLu<T>& a, Uplo uplo, const T* A, std::int64_t lda, cudaStream_t stream) {
  launch("load_triangle_kernel", load_triangle_kernel<T>,
         {.grid = turned_tiles(a.rows, a.rows), .block = turning_threads()}, stream, uplo == Uplo::lower, a.n, A, lda,
         a.a);
}

template <class T>
void store_triangle(const DeviceLu<T>& a, Uplo uplo, T* A, std::int64_t lda, cudaStream_t stream) {
  launch("store_triangle_kernel", store_triangle_kernel<T>,
         {.grid = turned_tiles(a.rows, a.rows), .block = turning_threads()}, stream, uplo == Uplo::lower, a.n, a.a, A,
         lda);
}

template <class T>
void fill_symmetric(Uplo uplo, std::int64_t n, const T* A, std::int64_t lda, T* to, cudaStream_t stream) {
  for (const bool other : {false, true})
    launch("fill_symmetric_kernel", fill_symmetric_kernel<T>, {.grid = turned_tiles(n, n), .block = turning_threads()},
           stream, uplo == Uplo::lower, other, n, A, lda, to);
}

template <class T>
void factor_cholesky_on_device(DeviceLu<T>& a, const Contract& contract, cudaStream_t stream) {
  launch("begin_info", begin_info, {.grid = 1, .block = 1}, stream, a.info);
  if constexpr (std::is_same_v<T, float>) {
    if (looks_ahead(contract)) return RightLooking(a, stream).run();
  }
  RecursiveCholesky<T>(a, contract, stream).run();
}

VERNIER_REAL_INSTANCES(load_triangle, store_triangle, fill_symmetric, factor_cholesky_on_device)

}  // namespace vernier::cuda
