// LU of float by products of split matrices: right-looking in blocks of 256 columns, with look-ahead. As soon as a
// block is factorised, the next one is updated; its panels then run on 16 multiprocessors, and beside each of them, on
// the others, a piece of what the block before has left: exchanges and triangular solves of the columns on the right,
// slices of their update, exchanges of the columns on the left. A piece is launched so that it begins when the panel is
// resident, and ends after it: one stream, no events, and what lies between the panels has the whole GPU.
#include <algorithm>
#include <climits>

#include "cuda/device.hpp"
#include "lapack/lu/lu_blocks.hpp"
#include "split/convert/convert.hpp"  // split_line_count
#include "split/product/sm90_split.hpp"

namespace vernier::cuda {
namespace {

class LookAhead final : Factorisation<float> {
 public:
  LookAhead(DeviceLu<float>& lu, cudaStream_t stream)
      : Factorisation(lu, lu.a, stream),
        memory_(plane_bytes(), stream),
        beside_panels_(current_device().multiprocessors - panel_multiprocessors) {
    Arena arena = memory_.arena();
    take_planes(arena);
  }

  void run() {
    begin_rows(lu_, stream_);
    for (int first = 0; first < last_; first += largest_block) {
      factor_block(first, end_of_block(first), [&](int i, int panels) { work_beside(i, panels); });
      finish_work();
      leave_block(first);
    }
  }

 private:
  int end_of_block(int first) const { return std::min(first + largest_block, last_); }

  void leave_block(int first) {
    const int end = end_of_block(first);
    const auto columns = static_cast<int>(lu_.columns);
    if (end == last_ || end >= columns)
      close_block(outside(first, end, {end, columns}, {0, first}, {}));
    else
      begin_update(first, end, columns);
  }

  static constexpr SplitForm form = SplitForm::half_shifted;
  static constexpr int tile = 128;          // of the product, along the columns
  static constexpr int tile_of_solve = 32;  // columns of a block of threads, of which a multiprocessor holds two

  std::size_t plane_bytes() {
    Arena count;
    take_planes(count);
    return count.used();
  }
  void take_planes(Arena& arena) {
    for (SplitPlane* plane : {&u_, &l_})
      *plane = SplitPlane::take(arena, std::max(lu_.rows, lu_.columns), split_line_count(form, largest_block));
  }

  FloatVectors u_columns(const ColumnRange& range) const {
    return {a_.at(first_, range.begin), range.size(), end_ - first_, 1, a_.ld};
  }
  FloatVectors l_rows() const { return {a_.at(end_, first_), rows_ - end_, end_ - first_, a_.ld, 1}; }

  // Panels that it takes to hide these columns behind them.
  std::int64_t panels_for_solves(const ColumnRange& range) const { return divide_up(range.size(), solved_beside()); }

  // Exchanges, solves and updates the next block, and leaves the rest to its panels: exchanges, too, if they have room.
  void begin_update(int first, int end, int columns) {
    const int next = std::min(end + largest_block, columns);
    first_ = first, end_ = end;
    u_.line_count = l_.line_count = split_line_count(form, end - first);
    rest_ = {next, columns};
    done_tiles_ = 0;
    const std::int64_t panels = (next - end) / width_at(end);
    const std::int64_t wanted = panels_for_solves(rest_) + divide_up(tiles_of_rest(), tiles_beside());
    work_ = outside(first, end, {}, {}, {});
    right_ = wanted <= panels ? rest_ : ColumnRange{};
    left_ = wanted < panels ? ColumnRange{0, first} : ColumnRange{};
    BlockTask<float> task = outside(first, end, {end, right_.size() > 0 ? next : columns}, {left_.end, first}, {});
    task.plane = u_;
    task.split_rows = {end, rows_};
    task.row_plane = l_;
    close_block(task);
    update({end, next}, {});
  }

  // Of the block before, beside panel i: what the GPU does in about the time of a panel.
  void work_beside(int i, int panels) {
    if (right_.size() > 0)
      solve_right(solved_beside(), true);
    else if (done_tiles_ < tiles_of_rest())
      update_slice(i, panels);
    else if (left_.size() > 0)
      exchange_left(left_beside(), true);
  }
  void finish_work() {
    if (right_.size() > 0) solve_right(right_.size(), false);
    if (done_tiles_ < tiles_of_rest()) update(rest_, {.first = done_tiles_});
    if (left_.size() > 0) exchange_left(left_.size(), false);
    rest_ = {};
  }
  void solve_right(std::int64_t most, bool beside) {
    BlockTask<float> task = work_;
    task.solved = {right_.begin, std::min(right_.end, right_.begin + most)};
    task.plane = u_from(right_.begin);
    task.beside_panel = beside;
    exchange_and_solve<float>(task, stream_);
    right_.begin = task.solved.end;
  }
  void exchange_left(std::int64_t most, bool beside) {
    BlockTask<float> task = work_;
    task.others[0] = {left_.begin, std::min(left_.end, left_.begin + most)};
    task.beside_panel = beside;
    exchange_and_solve<float>(task, stream_);
    left_.begin = task.others[0].end;
  }

  SplitPlane u_from(std::int64_t column) const { return u_.from(column - end_); }

  // Tiles in the order in which the product computes them: pairs, 256 rows by 128 columns.
  struct Tiles {
    int first = 0, end = INT_MAX;
    bool beside_panel = false;
  };

  // A -= L U in these columns. Row by row, A is the transpose of a column-major matrix, and U^T comes first.
  void update(const ColumnRange& range, const Tiles& tiles) {
    update_split({.a = u_columns(range),
                  .b = l_rows(),
                  .a_plane = u_from(range.begin),
                  .b_plane = l_,
                  .alpha = {-1, nullptr},
                  .beta = {1, nullptr},
                  .c = a_.at(end_, range.begin),
                  .ldc = a_.ld,
                  .beside_previous = tiles.beside_panel,
                  .multiprocessors = tiles.beside_panel ? beside_panels_ : 0,
                  .first_tile = tiles.first,
                  .end_tile = tiles.end},
                 stream_);
  }

  // As many tiles as multiprocessors beside a panel take in whole rounds; what is left in the end has all of them.
  void update_slice(int i, int panels) {
    const std::int64_t kept = divide_up(left_.size(), left_beside());  // panels for what comes after the slices
    const std::int64_t even =
        divide_up(tiles_of_rest() - done_tiles_, at_once() * std::max<std::int64_t>(panels - i - kept, 1));
    const std::int64_t end = std::min(tiles_of_rest(), done_tiles_ + std::min(even * at_once(), tiles_beside()));
    update(rest_, {done_tiles_, static_cast<int>(end), true});
    done_tiles_ = static_cast<int>(end);
  }
  // Columns are padded to tiles, blocks are not.
  std::int64_t tiles_of_rest() const { return divide_up(rows_ - end_, 2 * tile) * (rest_.size() / tile); }
  std::int64_t at_once() const { return beside_panels_ / 2; }
  // A round takes 6.7 us, beside a panel of many rows 7.5; a panel 44 us, where its rows fit twice 33, or 28.
  std::int64_t tiles_beside() const {
    const int rows = rows_ - end_;
    return (rows > 8192 ? 6 : rows > 4096 ? 5 : 4) * at_once();
  }
  std::int64_t left_beside() const { return 4 * solved_beside(); }
  // Columns that are solved for in the time of a panel. Two blocks of threads a multiprocessor would take 54 us.
  std::int64_t solved_beside() const { return std::int64_t{beside_panels_} * tile_of_solve; }

  SplitPlane u_, l_;
  DeviceWorkspace memory_;
  int beside_panels_;
  int first_ = 0, end_ = 0;  // the block that the planes hold
  // What is still to do with it: columns on the right that are not solved for, those that are not updated, columns on
  // the left that have not followed its exchanges, as work_ does.
  ColumnRange right_, rest_, left_;
  int done_tiles_ = 0;  // of the update of rest_
  BlockTask<float> work_;
};

}  // namespace

void factor_with_look_ahead(DeviceLu<float>& lu, cudaStream_t stream) { LookAhead(lu, stream).run(); }

}  // namespace vernier::cuda
