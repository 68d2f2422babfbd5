#include "model/strip_product.hpp"

#include <algorithm>

#include "model/element.hpp"
#include "model/replay.hpp"

namespace vernier::model {
namespace {

std::uint64_t load_word(Format format, const void* base, std::int64_t index) {
  const int bytes = storage_bytes(format);
  std::uint64_t word = 0;
  std::memcpy(&word, static_cast<const char*>(base) + index * bytes, static_cast<std::size_t>(bytes));
  return word;
}

// Encodings of a row of A or a column of B in the engine's order.
void gather(Format format, const void* base, std::int64_t offset, const ProductOrder& order, std::uint64_t* words) {
  for (std::size_t i = 0; i < order.k.size(); ++i)
    words[i] = order.k[i] < 0 ? 0 : load_word(format, base, offset + order.k[i]);
}

// Floats and exponents for the vector path, in the order of blocks. stride: distance between consecutive k. True if the
// vector holds an infinity or a NaN.
bool pack(const Engine& e, Format format, const std::uint64_t* words, std::size_t length, float* significand,
          std::int32_t* exponent, int stride) {
  const FloatShape shape = shape_of(format);
  const auto k = static_cast<std::size_t>(e.k);
  const int blocks = e.k / e.block;
  bool odd = false;
  for (std::size_t i = 0; i < length; ++i) {
    const auto t = static_cast<int>(i % k);
    const std::size_t from = i - i % k + static_cast<std::size_t>(block_index(e, blocks, t / e.block, t % e.block));
    const Unpacked x = unpack(shape, words[from]);
    odd = odd || x.kind != NumberClass::finite;
    const float magnitude = static_cast<float>(x.significand) / static_cast<float>(1 << shape.fraction_bits);
    const std::size_t to = i * static_cast<std::size_t>(stride);
    significand[to] = x.negative ? -magnitude : magnitude;
    exponent[to] = x.significand == 0 ? exponent_of_zero : x.exponent;
  }
  return odd;
}

}  // namespace

StripProduct::StripProduct(const Engine& e, const VectorPath* path, const ProductOrder& order, int rows, int columns,
                           bool runs_move_out)
    : e_(e),
      path_(path),
      order_(order),
      kp_(order.k.size()),
      columns_(columns),
      runs_move_out_(runs_move_out),
      row_odd_(static_cast<std::size_t>(rows)),
      a_words_(static_cast<std::size_t>(rows) * kp_),
      b_words_(static_cast<std::size_t>(columns) * kp_) {
  if (path_ == nullptr) return;
  a_significand_.resize(a_words_.size());
  a_exponent_.resize(a_words_.size());
  b_significand_.resize(b_words_.size());
  b_exponent_.resize(b_words_.size());
}

void StripProduct::load_rows(const StripOperands& x, std::int64_t i, int rows) {
  if (i == loaded_row_) return;
  loaded_row_ = i;
  for (int r = 0; r < rows; ++r) {
    gather(e_.a, x.A, (i + r) * x.lda, order_, &a_words_[at(r)]);
    row_odd_[static_cast<std::size_t>(r)] =
        path_ != nullptr && pack(e_, e_.a, &a_words_[at(r)], kp_, &a_significand_[at(r)], &a_exponent_[at(r)], 1);
  }
}

void StripProduct::load_columns(const StripOperands& x, std::int64_t j, int width) {
  columns_odd_ = false;
  for (int c = 0; c < columns_; ++c) {
    if (c < width)
      gather(e_.b, x.B, (j + c) * x.ldb, order_, &b_words_[at(c)]);
    else
      std::fill_n(&b_words_[at(c)], kp_, 0);
    if (path_ != nullptr && pack(e_, e_.b, &b_words_[at(c)], kp_, &b_significand_[static_cast<std::size_t>(c)],
                                 &b_exponent_[static_cast<std::size_t>(c)], columns_))
      columns_odd_ = true;
  }
}

void StripProduct::compute(const StripOperands& x, std::int64_t i, int rows, std::int64_t j, int width) {
  if (kp_ > 0) {
    load_rows(x, i, rows);
    load_columns(x, j, width);
  }
  const auto bytes = static_cast<std::size_t>(storage_bytes(e_.c));
  for (int first = 0; first < rows; first += group_rows) {
    const Group group{first, std::min(group_rows, rows - first)};
    Words c;
    for (int r = 0; r < group.count; ++r)
      for (int t = 0; t < width; ++t) c.word[r][t] = load_word(e_.c, x.C, i + first + r + (j + t) * x.ldc);
    const Words d = products(group, c);
    for (int r = 0; r < group.count; ++r)
      for (int t = 0; t < width; ++t)
        std::memcpy(static_cast<char*>(x.D) + static_cast<std::size_t>(i + first + r + (j + t) * x.ldc) * bytes,
                    &d.word[r][t], bytes);
  }
}

// Parts of k are summed alone, the first from C; within a part, runs inside the engine.
StripProduct::Words StripProduct::products(const Group& group, const Words& c) const {
  Words total, part = c;
  bool first_part = true;
  const auto finish_part = [&] {
    if (first_part)
      total = part;
    else
      add_outside(group, total, part);
    first_part = false;
    part = Words{};
  };
  for (const Run& run : order_.runs) {
    if (run.starts_part && &run != order_.runs.data()) finish_part();
    if (runs_move_out_) {
      Words inside;
      advance(group, run, inside);
      add_outside(group, part, inside);
    } else {
      advance(group, run, part);
    }
  }
  finish_part();
  return total;
}

void StripProduct::add_outside(const Group& group, Words& to, const Words& from) const {
  for (int r = 0; r < group.count; ++r)
    for (int j = 0; j < columns_; ++j) to.word[r][j] = model::add_outside(e_, to.word[r][j], from.word[r][j]);
}

void StripProduct::advance(const Group& group, const Run& run, Words& c) const {
  if (run.begin == run.end) return;  // k = 0
  bool odd = path_ == nullptr || columns_odd_;
  for (int r = 0; r < group.count; ++r) odd = odd || row_odd_[static_cast<std::size_t>(group.first + r)];
  if (!odd) return advance_vector(group, run, c);
  for (int r = 0; r < group.count; ++r) advance_scalar(group.first + r, run, c.word[r]);
}

void StripProduct::advance_scalar(int row, const Run& run, std::uint64_t* c) const {
  for (int j = 0; j < columns_; ++j)
    for (std::int64_t i = run.begin; i < run.end; ++i)
      c[j] = element<largest_block>(e_, &a_words_[at(row) + static_cast<std::size_t>(i * e_.k)],
                                    &b_words_[at(j) + static_cast<std::size_t>(i * e_.k)], c[j]);
}

namespace {
struct Slow {
  const void* product;
  int first_row;
  std::int64_t begin;  // instruction at which the run begins
};
}  // namespace

// Block q after the run's begin, for one row of the group and one lane.
std::uint32_t StripProduct::scalar_block(const void* context, int row, int q, int j, std::uint32_t c) {
  const Slow& slow = *static_cast<const Slow*>(context);
  const StripProduct& p = *static_cast<const StripProduct*>(slow.product);
  const Engine& e = p.e_;
  const int blocks = e.k / e.block;
  const auto first = static_cast<std::size_t>((slow.begin + q / blocks) * e.k);
  const auto load = [&](int t, Unpacked& a, Unpacked& b) {
    const std::size_t i = first + static_cast<std::size_t>(block_index(e, blocks, q % blocks, t));
    a = unpack(shape_of(e.a), p.a_words_[p.at(slow.first_row + row) + i]);
    b = unpack(shape_of(e.b), p.b_words_[p.at(j) + i]);
  };
  return static_cast<std::uint32_t>(sum_block<largest_block>(e, e.block, load, c));
}

void StripProduct::advance_vector(const Group& group, const Run& run, Words& c) const {
  alignas(64) std::uint32_t words[group_rows * widest] = {};
  const auto word = [&](int r, int j) -> std::uint32_t& { return words[r * columns_ + j]; };
  const auto k0 = static_cast<std::size_t>(run.begin * e_.k), from = k0 * static_cast<std::size_t>(columns_);
  RowOperand rows[group_rows];
  for (int r = 0; r < group.count; ++r) {
    rows[r] = {&a_significand_[at(group.first + r) + k0], &a_exponent_[at(group.first + r) + k0]};
    for (int j = 0; j < columns_; ++j) word(r, j) = static_cast<std::uint32_t>(c.word[r][j]);
  }
  const Slow slow{this, group.first, run.begin};
  RowTask task;
  task.rule = {e_.fraction_bits, e_.zero_exponent};
  task.block = e_.block;
  task.blocks = static_cast<int>((run.end - run.begin) * (e_.k / e_.block));
  task.rows = rows;
  task.row_count = group.count;
  task.strip = {&b_significand_[from], &b_exponent_[from]};
  task.c = words;
  task.scalar = scalar_block;
  task.context = &slow;
  path_->rows(task);
  for (int r = 0; r < group.count; ++r)
    for (int j = 0; j < columns_; ++j) c.word[r][j] = word(r, j);
}

}  // namespace vernier::model
