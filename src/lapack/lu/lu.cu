// LU of float with look-ahead, where products of split matrices serve; otherwise recursive over the columns, which
// gives the residue products the long sums that they ask for.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <climits>
#include <type_traits>
#include <utility>

#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "lapack/lu/lu_blocks.hpp"

namespace vernier::cuda {
namespace {

template <class T>
class RecursiveLu : Factorisation<T> {
  using Base = Factorisation<T>;
  using Base::a_;
  using Base::lu_;

 public:
  RecursiveLu(DeviceLu<T>& lu, const Contract& contract, cudaStream_t stream)
      : Base(lu, lu.a, stream), options_{.contract = contract, .stream = stream} {}

  void run() {
    factor(0, this->last_);
    solve(0, this->last_, {this->last_, lu_.columns});
  }

 private:
  static constexpr int cublas_depth = 64;  // from there on its kernels are faster: 18 us against 66 for 128 x 128

  static int middle(int first, int end) { return first + static_cast<int>(round_up((end - first) / 2, largest_block)); }

  void subtract_inside(int row, const ColumnRange& range, int first, int depth) override {
    if (depth < cublas_depth || options_.contract.reproducible) return Base::subtract_inside(row, range, first, depth);
    subtract_product(row, this->rows_, range, first, first + depth);
  }

  void factor(int first, int end) {
    if (end - first <= largest_block) {
      Base::factor_block(first, end, [](int, int) {});
      return this->close_block(this->outside(first, end, {}, {0, first}, {end, lu_.columns}));
    }
    const int mid = middle(first, end);
    factor(first, mid);
    solve(first, mid, {mid, end});
    subtract_product(mid, this->rows_, {mid, end}, first, mid);
    factor(mid, end);
  }

  void solve(int first, int end, const ColumnRange& range) {
    if (range.size() == 0) return;
    if (end - first <= largest_block)
      return exchange_and_solve<T>({.a = a_, .first = first, .order = end - first, .exchange = false, .solved = range},
                                   this->stream_);
    const int mid = middle(first, end);
    solve(first, mid, range);
    subtract_product(mid, end, range, first, mid);
    solve(mid, end, range);
  }

  // A -= L U in rows [row, row_end) of the range; L in columns [first, end), U in the rows of those numbers.
  void subtract_product(int row, int row_end, const ColumnRange& range, int first, int end) {
    if (row_end <= row) return;
    const T minus_one = -1, one = 1;
    gemm(Op::none, Op::none, range.size(), row_end - row, end - first, &minus_one, a_.at(first, range.begin), a_.ld,
         a_.at(row, first), a_.ld, &one, a_.at(row, range.begin), a_.ld, options_);
  }

  Options options_;
};

__global__ void begin_orders(RowOrder first, RowOrder second, int* permutation, int count, int* info) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i == 0) *info = INT_MAX;
  if (i >= count) return;
  first.rows[i] = first.places[i] = second.rows[i] = second.places[i] = permutation[i] = i;
}

}  // namespace

LuRows::LuRows(std::int64_t m_, std::int64_t n_, cudaStream_t stream)
    : m(m_),
      n(n_),
      rows(round_up(m_, device_padding)),
      columns(round_up(n_, device_padding)),
      memory(panel_mail_bytes + (8 * static_cast<std::size_t>(rows) + 1) * sizeof(int), stream),
      mail(memory.data()) {
  int* next = reinterpret_cast<int*>(memory.data() + panel_mail_bytes);
  const auto take = [&] { return std::exchange(next, next + rows); };
  pivots = take();
  permutation = take();
  exchanges = {take(), take()};
  for (RowOrder& order : orders) order = {take(), take()};
  info = next;
}

void begin_rows(const LuRows& lu, cudaStream_t stream) {
  begin_orders<<<static_cast<unsigned>((lu.rows + 255) / 256), 256, 0, stream>>>(
      lu.orders[0], lu.orders[1], lu.permutation, static_cast<int>(lu.rows), lu.info);
  check_launch("begin_orders");
}

template <class T>
DeviceLu<T>::DeviceLu(std::int64_t m_, std::int64_t n_, cudaStream_t stream)
    : LuRows(m_, n_, stream),
      matrix(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * sizeof(T), stream),
      a{reinterpret_cast<T*>(matrix.data()), columns} {}

template <class T>
std::int64_t device_lu_limit() {
  std::int64_t rows = device_padding;
  while (panel_width<T>(2 * rows) > 0) rows *= 2;
  return rows;
}

template <class T>
void factor_on_device(DeviceLu<T>& lu, const Contract& contract, cudaStream_t stream) {
  if constexpr (std::is_same_v<T, float>) {
    if (looks_ahead(contract)) return factor_with_look_ahead(lu, stream);
  }
  begin_rows(lu, stream);
  RecursiveLu<T>(lu, contract, stream).run();
}

std::int64_t read_info(const LuRows& lu, cudaStream_t stream) {
  int info = 0;
  check(cudaMemcpyAsync(&info, lu.info, sizeof info, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "LU on the GPU");
  return info == INT_MAX ? 0 : info;
}

#define VERNIER_INSTANTIATE(T) \
  template struct DeviceLu<T>; \
  template struct Instances<device_lu_limit<T>, factor_on_device<T>>;
VERNIER_EACH_REAL(VERNIER_INSTANTIATE)
template struct DeviceLu<__half>;
template struct DeviceLu<__nv_bfloat16>;

}  // namespace vernier::cuda
