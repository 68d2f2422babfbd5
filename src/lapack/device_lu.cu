// Two ways to arrange LU on a GPU.
//
// fp32 by products of split matrices: right-looking in blocks of 256 columns, with look-ahead. As soon as a block is
// factorised, the next one is updated; its panels then run on 16 multiprocessors, and beside each of them, on the
// others, a slice of the rest of the update. A slice is launched so that it begins when the panel is resident, and
// ends after it: one stream, no events, and what lies between the panels has the whole GPU.
//
// Otherwise: recursive over the columns, which gives the residue products the long sums that they ask for.
#include <algorithm>
#include <climits>
#include <type_traits>
#include <utility>

#include "base/status.hpp"
#include "cuda/device.hpp"
#include "engine/sm90_split.hpp"
#include "lapack/device_lu.hpp"
#include "scheme/split_cuda.hpp"

namespace vernier {
namespace {

using cuda::check;

constexpr int panel_unit = 32;  // the widest panel

template <class T>
class Factorisation {
 public:
  Factorisation(DeviceLu<T>& lu, cudaStream_t stream)
      : lu_(lu),
        stream_(stream),
        rows_(static_cast<int>(lu.rows)),
        last_(static_cast<int>(padded_to(std::min(lu.m, lu.n), panel_unit))) {}
  virtual ~Factorisation() = default;

 protected:
  // Columns [first, end), at most largest_block, and exchanges within them; after each panel beside(i, panels).
  template <class Beside>
  void factor_block(int first, int end, Beside beside) {
    block_ = {first, end};
    int panels = 0, done = 0;
    for (int c = first; c < end; c += width_at(c)) ++panels;
    factor_columns(first, end, {}, [&] { beside(done++, panels); });
  }

  // ... [begin, end) of them; if that is one panel, those of `next`, which follow it, are solved for at once.
  template <class Beside>
  void factor_columns(int begin, int end, const ColumnRange& next, const Beside& beside) {
    const int width = width_at(begin);
    if (end - begin <= width) {
      factor_panel<T>(
          {lu_.a, rows_, begin, lu_.exchanges, lu_.pivots, lu_.info, static_cast<int>(std::min(lu_.m, lu_.n))},
          stream_);
      beside();
      return exchange_and_solve<T>({.a = lu_.a,
                                    .first = begin,
                                    .order = end - begin,
                                    .exchanges = lu_.exchanges,
                                    .solved = next,
                                    .others = {{block_.begin, begin}, {end + next.size(), block_.end}},
                                    .followed = order()},
                                   stream_);
    }
    // One launch less a panel, or a quarter of the memory traffic, of which fp64 has more.
    const int left = std::is_same_v<T, float> ? width : static_cast<int>(padded_to((end - begin) / 2, width));
    const int mid = begin + left;
    factor_columns(begin, mid, {mid, end}, beside);
    if (left > width)
      exchange_and_solve<T>({.a = lu_.a, .first = begin, .order = left, .exchange = false, .solved = {mid, end}},
                            stream_);
    subtract_inside(mid, {mid, end}, begin, left);
    factor_columns(mid, end, {}, beside);
  }

  // What the block's panels have exchanged, in all other columns; those on the right may be solved for at once.
  void exchange_outside(int first, int end, bool solve) {
    const ColumnRange left = {0, first}, right = {end, lu_.columns};
    exchange_and_solve<T>({.a = lu_.a,
                           .first = first,
                           .order = end - first,
                           .exchanges = order().exchanges(),
                           .solved = solve ? right : ColumnRange{},
                           .others = {left, solve ? ColumnRange{} : right},
                           .followed = {lu_.permutation, nullptr},
                           .reset = lu_.orders[1 - parity_],
                           .reset_end = rows_},
                          stream_);
    parity_ = 1 - parity_;
  }

  // A -= L U below `row` in a few columns of a block; L in columns [first, first + depth).
  virtual void subtract_inside(int row, const ColumnRange& range, int first, int depth) {
    subtract_small_product<T>(lu_.a, rows_, row, range, first, depth, stream_);
  }

  int width_at(int column) const { return panel_width<T>(rows_ - column); }
  const RowOrder& order() const { return lu_.orders[parity_]; }

  DeviceLu<T>& lu_;
  cudaStream_t stream_;
  int rows_, last_;  // padded; columns to factorise
  int parity_ = 0;
  ColumnRange block_;
};

// ---- fp32 with look-ahead ------------------------------------------------------------------------------------------

class LookAhead : Factorisation<float> {
 public:
  LookAhead(DeviceLu<float>& lu, cudaStream_t stream)
      : Factorisation(lu, stream),
        lines_(split_line_count(form, largest_block)),
        memory_(2 * plane_bytes(), stream),
        beside_panels_(cuda::current_device().multiprocessors - panel_multiprocessors) {
    u_ = plane(memory_.data());
    l_ = plane(memory_.data() + plane_bytes());
  }

  void run() {
    const auto columns = static_cast<int>(lu_.columns);
    for (int first = 0; first < last_; first += largest_block) {
      const int end = std::min(first + largest_block, last_);
      factor_block(first, end, [&](int i, int panels) { update_slice(i, panels); });
      update(rest_, false);
      exchange_outside(first, end, true);
      rest_ = {};
      if (end == last_ || end >= columns) continue;
      split(first, end);
      const int next = std::min(end + largest_block, columns);
      update({end, next}, false);
      rest_ = {next, columns};
    }
  }

 private:
  static constexpr SplitForm form = SplitForm::half_shifted;
  static constexpr int tile = 128;  // of the product, along the columns

  std::size_t vectors() const { return static_cast<std::size_t>(std::max(lu_.rows, lu_.columns)); }
  std::size_t plane_bytes() const {
    return vectors() *
           (static_cast<std::size_t>(lines_) * split_line_bytes + sizeof(std::int32_t) + sizeof(std::uint32_t));
  }
  SplitPlane plane(std::byte* data) const {
    SplitPlane p;
    p.lines = data;
    p.unscale = reinterpret_cast<std::int32_t*>(data + vectors() * static_cast<std::size_t>(lines_) * split_line_bytes);
    p.status = reinterpret_cast<std::uint32_t*>(p.unscale + vectors());
    return p;
  }

  FloatVectors u_columns(const ColumnRange& range) const {
    return {lu_.a.at(first_, range.begin), range.size(), end_ - first_, 1, lu_.a.ld};
  }
  FloatVectors l_rows() const { return {lu_.a.at(end_, first_), rows_ - end_, end_ - first_, lu_.a.ld, 1}; }

  // L and U of the block beside and below it, for all products with them.
  void split(int first, int end) {
    first_ = first, end_ = end;
    u_.line_count = l_.line_count = split_line_count(form, end - first);
    split_operands(form, {u_columns({end, lu_.columns}), u_, nullptr}, {l_rows(), l_, nullptr}, {}, stream_);
  }

  // A -= L U in these columns. Row by row, A is the transpose of a column-major matrix, and U^T comes first.
  void update(const ColumnRange& range, bool beside) {
    if (range.size() == 0) return;
    const std::int64_t skip = range.begin - end_;
    SplitPlane u = u_;
    u.lines += skip * u.line_count * split_line_bytes;
    u.unscale += skip;
    u.status += skip;
    sm90::update_split({.a = u_columns(range),
                        .b = l_rows(),
                        .a_plane = u,
                        .b_plane = l_,
                        .alpha = {-1, nullptr},
                        .beta = {1, nullptr},
                        .c = lu_.a.at(end_, range.begin),
                        .ldc = lu_.a.ld,
                        .beside_previous = beside,
                        .multiprocessors = beside ? beside_panels_ : 0},
                       stream_);
  }

  // Beside panel i as much as takes about its time; what is left then has all multiprocessors for itself.
  void update_slice(int i, int panels) {
    const std::int64_t tiles = rest_.size() / tile;  // columns are padded to tiles, blocks are not
    const std::int64_t even = (tiles + panels - i - 1) / (panels - i);
    const std::int64_t down = (rows_ - end_ + 2 * tile - 1) / (2 * tile);  // pairs of tiles below each other
    const std::int64_t fitting = waves_beside_panel() * (beside_panels_ / 2) / std::max<std::int64_t>(down, 1);
    const ColumnRange slice = {
        rest_.begin, std::min(rest_.end, rest_.begin + tile * std::min(even, std::max<std::int64_t>(fitting, 1)))};
    update(slice, true);
    rest_.begin = slice.end;
  }
  // A tile of k = 256 takes 6.4 us, a panel 33 us and, where its rows do not fit twice, 44.
  std::int64_t waves_beside_panel() const { return rows_ - end_ > 8192 ? 7 : 5; }

  std::int64_t lines_;
  cuda::DeviceWorkspace memory_;
  int beside_panels_;
  SplitPlane u_, l_;
  int first_ = 0, end_ = 0;  // the block that the planes hold
  ColumnRange rest_;         // columns that its update has not reached
};

// ---- recursive -----------------------------------------------------------------------------------------------------

template <class T>
class Recursive : Factorisation<T> {
  using Base = Factorisation<T>;
  using Base::lu_;

 public:
  Recursive(DeviceLu<T>& lu, const Contract& contract, cudaStream_t stream)
      : Base(lu, stream), options_{.contract = contract, .stream = stream} {}

  void run() {
    factor(0, this->last_);
    solve(0, this->last_, {this->last_, lu_.columns});
  }

 private:
  static constexpr int cublas_depth = 64;  // from there on its kernels are faster: 18 us against 66 for 128 x 128

  static int middle(int first, int end) {
    return first + static_cast<int>(padded_to((end - first) / 2, largest_block));
  }

  void subtract_inside(int row, const ColumnRange& range, int first, int depth) override {
    if (depth < cublas_depth || options_.contract.reproducible) return Base::subtract_inside(row, range, first, depth);
    subtract_product(row, this->rows_, range, first, first + depth);
  }

  void factor(int first, int end) {
    if (end - first <= largest_block) {
      Base::factor_block(first, end, [](int, int) {});
      return Base::exchange_outside(first, end, false);
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
      return exchange_and_solve<T>(
          {.a = lu_.a, .first = first, .order = end - first, .exchange = false, .solved = range}, this->stream_);
    const int mid = middle(first, end);
    solve(first, mid, range);
    subtract_product(mid, end, range, first, mid);
    solve(mid, end, range);
  }

  // A -= L U in rows [row, row_end) of the range; L in columns [first, end), U in the rows of those numbers.
  void subtract_product(int row, int row_end, const ColumnRange& range, int first, int end) {
    if (row_end <= row) return;
    const T minus_one = -1, one = 1;
    cuda::gemm(Op::none, Op::none, range.size(), row_end - row, end - first, &minus_one, lu_.a.at(first, range.begin),
               lu_.a.ld, lu_.a.at(row, first), lu_.a.ld, &one, lu_.a.at(row, range.begin), lu_.a.ld, options_);
  }

  cuda::Options options_;
};

__global__ void begin_orders(RowOrder first, RowOrder second, int* permutation, int count, int* info) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i == 0) *info = INT_MAX;
  if (i >= count) return;
  first.rows[i] = first.places[i] = second.rows[i] = second.places[i] = permutation[i] = i;
}

}  // namespace

template <class T>
DeviceLu<T>::DeviceLu(std::int64_t m_, std::int64_t n_, cudaStream_t stream)
    : m(m_),
      n(n_),
      rows(padded_to(m_, device_padding)),
      columns(padded_to(n_, device_padding)),
      matrix(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * sizeof(T), stream),
      integers((8 * static_cast<std::size_t>(rows) + 1) * sizeof(int), stream),
      a{reinterpret_cast<T*>(matrix.data()), columns} {
  int* next = reinterpret_cast<int*>(integers.data());
  const auto take = [&] { return std::exchange(next, next + rows); };
  pivots = take();
  permutation = take();
  exchanges = {take(), take()};
  for (RowOrder& order : orders) order = {take(), take()};
  info = next;
}

template <class T>
std::int64_t device_lu_limit() {
  std::int64_t rows = device_padding;
  while (panel_width<T>(2 * rows) > 0) rows *= 2;
  return rows;
}

template <class T>
void factor_on_device(DeviceLu<T>& lu, const Contract& contract, cudaStream_t stream) {
  begin_orders<<<static_cast<unsigned>((lu.rows + 255) / 256), 256, 0, stream>>>(
      lu.orders[0], lu.orders[1], lu.permutation, static_cast<int>(lu.rows), lu.info);
  cuda::check_launch("begin_orders");
  if constexpr (std::is_same_v<T, float>) {
    if (contract.kind == Contract::Kind::fp32 && !contract.reproducible) return LookAhead(lu, stream).run();
  }
  Recursive<T>(lu, contract, stream).run();
}

template <class T>
std::int64_t read_info(const DeviceLu<T>& lu, cudaStream_t stream) {
  int info = 0;
  check(cudaMemcpyAsync(&info, lu.info, sizeof info, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "LU on the GPU");
  return info == INT_MAX ? 0 : info;
}

#define VERNIER_INSTANTIATE(T)                                                 \
  template struct DeviceLu<T>;                                                 \
  template std::int64_t device_lu_limit<T>();                                  \
  template void factor_on_device(DeviceLu<T>&, const Contract&, cudaStream_t); \
  template std::int64_t read_info(const DeviceLu<T>&, cudaStream_t);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
#undef VERNIER_INSTANTIATE

}  // namespace vernier
