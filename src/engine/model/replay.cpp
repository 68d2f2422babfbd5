// Whole products on a modelled engine: k order, runs, split-K, sums outside the engine.
#include "engine/model/replay.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "engine/model/element.hpp"
#include "engine/model/tile.hpp"
#include "vernier/vernier.hpp"

namespace vernier::model {
namespace {

constexpr int max_block = 256;

std::uint64_t load_word(Format format, const void* base, std::int64_t index) {
  const int bytes = storage_bytes(format);
  std::uint64_t word = 0;
  std::memcpy(&word, static_cast<const char*>(base) + index * bytes, static_cast<std::size_t>(bytes));
  return word;
}

// Instructions [begin, end) are summed inside the engine.
struct Run {
  std::int64_t begin = 0, end = 0;
  bool starts_part = false;
};

struct Order {
  std::vector<std::int64_t> k;  // engine.k entries per instruction; -1 is a padding zero
  std::vector<Run> runs;
};

Order make_order(const Engine& e, const Replay& r, std::int64_t k) {
  std::vector<std::int64_t> walk = r.k_order;
  if (walk.empty()) {
    walk.resize(static_cast<std::size_t>(k));
    std::iota(walk.begin(), walk.end(), std::int64_t{0});
  }
  Order order;
  for (int part = 0; part < r.split_k; ++part) {
    const std::int64_t first = k * part / r.split_k, last = k * (part + 1) / r.split_k;
    const std::int64_t step = r.run == 0 ? std::max<std::int64_t>(last - first, 1) : r.run;
    for (std::int64_t at = first; at < last || at == first; at += step) {
      Run run{static_cast<std::int64_t>(order.k.size()) / e.k, 0, at == first};
      for (std::int64_t i = at; i < std::min(at + step, last); ++i)
        order.k.push_back(walk[static_cast<std::size_t>(i)]);
      while (order.k.size() % static_cast<std::size_t>(e.k) != 0) order.k.push_back(-1);
      run.end = static_cast<std::int64_t>(order.k.size()) / e.k;
      order.runs.push_back(run);
    }
  }
  return order;
}

// Encodings of a row of A or a column of B in the engine's order.
void gather(Format format, const void* base, std::int64_t offset, const Order& order, std::uint64_t* words) {
  for (std::size_t i = 0; i < order.k.size(); ++i)
    words[i] = order.k[i] < 0 ? 0 : load_word(format, base, offset + order.k[i]);
}

// Floats and exponents for the vector path, in the order of blocks. stride: distance between consecutive k.
void pack(const Engine& e, Format format, const std::vector<std::uint64_t>& words, std::size_t offset,
          std::size_t length, float* significand, std::int32_t* exponent, int stride, bool& odd) {
  const FloatShape shape = shape_of(format);
  const auto k = static_cast<std::size_t>(e.k);
  const int blocks = e.k / e.block;
  for (std::size_t i = 0; i < length; ++i) {
    const auto t = static_cast<int>(i % k);
    const std::size_t from = i - i % k + static_cast<std::size_t>(block_index(e, blocks, t / e.block, t % e.block));
    const Unpacked x = unpack(shape, words[offset + from]);
    odd = odd || x.kind != NumberClass::finite;
    const float magnitude = static_cast<float>(x.significand) / static_cast<float>(1 << shape.fraction_bits);
    const std::size_t to = i * static_cast<std::size_t>(stride);
    significand[to] = x.negative ? -magnitude : magnitude;
    exponent[to] = x.significand == 0 ? exponent_of_zero : x.exponent;
  }
}

constexpr int strip_rows = 64;

class StripProduct {
 public:
  StripProduct(const Engine& e, const VectorPath* path, Order order, int columns, bool runs_move_out)
      : e_(e),
        path_(path),
        order_(std::move(order)),
        kp_(order_.k.size()),
        columns_(columns),
        runs_move_out_(runs_move_out) {
    a_words_.resize(strip_rows * kp_);
    b_words_.resize(static_cast<std::size_t>(columns) * kp_);
    if (path_ == nullptr) return;
    a_significand_.resize(strip_rows * kp_);
    a_exponent_.resize(strip_rows * kp_);
    b_significand_.resize(static_cast<std::size_t>(columns) * kp_);
    b_exponent_.resize(static_cast<std::size_t>(columns) * kp_);
  }

  void load_row(int r, const void* A, std::int64_t offset) {
    gather(e_.a, A, offset, order_, &a_words_[at(r)]);
    row_odd_[r] = false;
    if (path_ != nullptr)
      pack(e_, e_.a, a_words_, at(r), kp_, &a_significand_[at(r)], &a_exponent_[at(r)], 1, row_odd_[r]);
  }
  void load_column(int j, const void* B, std::int64_t offset) {
    gather(e_.b, B, offset, order_, &b_words_[at(j)]);
    if (j == 0) columns_odd_ = false;
    if (path_ != nullptr)
      pack(e_, e_.b, b_words_, at(j), kp_, &b_significand_[j], &b_exponent_[j], columns_, columns_odd_);
  }
  void clear_column(int j) {
    std::fill_n(&b_words_[at(j)], kp_, 0);
    bool odd = false;
    if (path_ != nullptr) pack(e_, e_.b, b_words_, at(j), kp_, &b_significand_[j], &b_exponent_[j], columns_, odd);
  }

  // D of one row against the strip's columns; c_d[columns] holds C and becomes D.
  void row(int r, std::uint64_t* c_d) {
    std::vector<std::uint64_t> outside(c_d, c_d + columns_), inside(static_cast<std::size_t>(columns_));
    std::vector<std::uint64_t> total;
    for (const Run& run : order_.runs) {
      if (run.starts_part && &run != order_.runs.data()) {
        finish_part(total, outside);
        std::fill(outside.begin(), outside.end(), 0);
      }
      if (!runs_move_out_) {
        advance(r, run, outside);
      } else {
        std::fill(inside.begin(), inside.end(), 0);
        advance(r, run, inside);
        for (int j = 0; j < columns_; ++j) outside[j] = add_outside(e_, outside[j], inside[j]);
      }
    }
    finish_part(total, outside);
    std::copy(total.begin(), total.end(), c_d);
  }

 private:
  std::size_t at(int i) const { return static_cast<std::size_t>(i) * kp_; }

  void finish_part(std::vector<std::uint64_t>& total, const std::vector<std::uint64_t>& part) const {
    if (total.empty()) {
      total = part;
      return;
    }
    for (int j = 0; j < columns_; ++j) total[j] = add_outside(e_, total[j], part[j]);
  }

  void advance(int r, const Run& run, std::vector<std::uint64_t>& c) {
    if (path_ == nullptr || row_odd_[r] || columns_odd_)
      for (int j = 0; j < columns_; ++j)
        for (std::int64_t i = run.begin; i < run.end; ++i)
          c[j] = element<max_block>(e_, &a_words_[at(r) + static_cast<std::size_t>(i * e_.k)],
                                    &b_words_[at(j) + static_cast<std::size_t>(i * e_.k)], c[j]);
    else
      advance_vector(r, run, c);
  }

  struct Slow {
    const StripProduct* product;
    int row;
    std::int64_t begin;
  };
  // Block q after the run's begin, for one lane.
  static std::uint32_t scalar_block(const void* context, int q, int j, std::uint32_t c) {
    const Slow& slow = *static_cast<const Slow*>(context);
    const StripProduct& p = *slow.product;
    const Engine& e = p.e_;
    const int blocks = e.k / e.block;
    const std::size_t first = static_cast<std::size_t>((slow.begin + q / blocks) * e.k);
    const auto load = [&](int t, Unpacked& a, Unpacked& b) {
      const auto i = first + static_cast<std::size_t>(block_index(e, blocks, q % blocks, t));
      a = unpack(shape_of(e.a), p.a_words_[p.at(slow.row) + i]);
      b = unpack(shape_of(e.b), p.b_words_[p.at(j) + i]);
    };
    return static_cast<std::uint32_t>(sum_block<max_block>(e, e.block, load, c));
  }

  void advance_vector(int r, const Run& run, std::vector<std::uint64_t>& c) {
    alignas(64) std::uint32_t words[16] = {};
    for (int j = 0; j < columns_; ++j) words[j] = static_cast<std::uint32_t>(c[j]);
    const auto k0 = static_cast<std::size_t>(run.begin * e_.k);
    const Slow slow{this, r, run.begin};
    RowTask task;
    task.rule = {e_.fraction_bits, e_.zero_exponent};
    task.block = e_.block;
    task.blocks = static_cast<int>((run.end - run.begin) * (e_.k / e_.block));
    task.row = {&a_significand_[at(r) + k0], &a_exponent_[at(r) + k0]};
    task.strip = {&b_significand_[k0 * static_cast<std::size_t>(columns_)],
                  &b_exponent_[k0 * static_cast<std::size_t>(columns_)]};
    task.c = words;
    task.scalar = scalar_block;
    task.context = &slow;
    path_->row(task);
    for (int j = 0; j < columns_; ++j) c[j] = words[j];
  }

  const Engine& e_;
  const VectorPath* path_;
  Order order_;
  std::size_t kp_;
  int columns_;
  bool runs_move_out_;
  bool row_odd_[strip_rows] = {};
  bool columns_odd_ = false;
  std::vector<std::uint64_t> a_words_, b_words_;
  std::vector<float> a_significand_, b_significand_;
  std::vector<std::int32_t> a_exponent_, b_exponent_;
};

void check(bool fine, const std::string& what) {
  if (!fine) throw Error(Status::invalid_argument, "model::multiply: " + what);
}

void check_arguments(const Replay& r, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda,
                     std::int64_t ldb, std::int64_t ldc) {
  check(m >= 0 && n >= 0 && k >= 0, "m, n and k must not be negative");
  check(lda >= std::max<std::int64_t>(1, k), "lda is " + std::to_string(lda) + "; expected at least max(1, k)");
  check(ldb >= std::max<std::int64_t>(1, k), "ldb is " + std::to_string(ldb) + "; expected at least max(1, k)");
  check(ldc >= std::max<std::int64_t>(1, m), "ldc is " + std::to_string(ldc) + "; expected at least max(1, m)");
  check(r.run >= 0, "run is " + std::to_string(r.run) + "; expected 0 or more");
  check(r.split_k >= 1, "split_k is " + std::to_string(r.split_k) + "; expected at least 1");
  if (r.k_order.empty()) return;
  std::vector<bool> seen(static_cast<std::size_t>(k), false);
  bool permutation = static_cast<std::int64_t>(r.k_order.size()) == k;
  for (std::int64_t i : r.k_order) {
    permutation = permutation && i >= 0 && i < k && !seen[static_cast<std::size_t>(i)];
    if (permutation) seen[static_cast<std::size_t>(i)] = true;
  }
  check(permutation, "k_order is no permutation of 0 to k - 1");
}

}  // namespace

bool vector_path_fits(const Engine& e) {
  const auto narrow = [](Format f) { return f == Format::fp16 || f == Format::bf16 || f == Format::tf32; };
  return e.sum == Sum::block && narrow(e.a) && narrow(e.b) && e.c == Format::fp32 && e.k % e.block == 0 &&
         (e.block == 4 || e.block == 8 || e.block == 16) && e.fraction_bits >= 1 && e.fraction_bits <= 25 &&
         e.join == Join::first && e.alignment == Rounding::toward_zero && e.rounding == Rounding::toward_zero &&
         !e.normalise_products && !e.zero_keeps_exponent && e.carry_bits == 0 && e.product_bits == 0 &&
         e.output_fraction_bits == 23 && e.early_fraction_bits == 0 && !e.flush_inputs && !e.flush_c &&
         !e.flush_output && e.zero_sign == ZeroSign::positive && e.overflow == Overflow::infinity &&
         e.zero_exponent >= -1000;
}

std::string vector_path(const Engine& engine) {
  const VectorPath* path = vector_path_fits(engine) ? find_vector_path("") : nullptr;
  return path == nullptr ? "" : path->name;
}

std::uint64_t add_outside(const Engine& e, std::uint64_t a, std::uint64_t b) {
  if (e.sum == Sum::integer) return static_cast<std::uint32_t>(a + b);
  const FloatShape shape = shape_of(e.c);
  const Real x = real_of(unpack(shape, a), shape), y = real_of(unpack(shape, b), shape);
  return canonical(e, round_sum(Engine{}, shape, Rounding::nearest_even, x, y));
}

std::uint64_t dot(const Engine& engine, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t c) {
  return element<max_block>(engine, a, b, c);
}

void multiply(const Engine& engine, const Replay& replay, std::int64_t m, std::int64_t n, std::int64_t k, const void* A,
              std::int64_t lda, const void* B, std::int64_t ldb, const void* C, void* D, std::int64_t ldc) {
  multiply_on(replay.scalar ? "scalar" : "", engine, replay, m, n, k, A, lda, B, ldb, C, D, ldc);
}

void multiply_on(std::string_view path_name, const Engine& e, const Replay& replay, std::int64_t m, std::int64_t n,
                 std::int64_t k, const void* A, std::int64_t lda, const void* B, std::int64_t ldb, const void* C,
                 void* D, std::int64_t ldc) {
  validate(e);
  check_arguments(replay, m, n, k, lda, ldb, ldc);
  const VectorPath* path = path_name == "scalar" || !vector_path_fits(e) ? nullptr : find_vector_path(path_name);
  const int columns = path == nullptr ? 16 : path->lanes;
  StripProduct product(e, path, make_order(e, replay, k), columns, replay.run != 0);
  const auto bytes = static_cast<std::size_t>(storage_bytes(e.c));
  std::uint64_t line[16] = {};
  for (std::int64_t i0 = 0; i0 < m; i0 += strip_rows) {
    const int rows = static_cast<int>(std::min<std::int64_t>(strip_rows, m - i0));
    for (int r = 0; r < rows; ++r) product.load_row(r, A, (i0 + r) * lda);
    for (std::int64_t j0 = 0; j0 < n; j0 += columns) {
      const int width = static_cast<int>(std::min<std::int64_t>(columns, n - j0));
      for (int j = 0; j < width; ++j) product.load_column(j, B, (j0 + j) * ldb);
      for (int j = width; j < columns; ++j) product.clear_column(j);
      for (int r = 0; r < rows; ++r) {
        for (int j = 0; j < width; ++j) line[j] = load_word(e.c, C, i0 + r + (j0 + j) * ldc);
        product.row(r, line);
        for (int j = 0; j < width; ++j)
          std::memcpy(static_cast<char*>(D) + static_cast<std::size_t>(i0 + r + (j0 + j) * ldc) * bytes, &line[j],
                      bytes);
      }
    }
  }
}

}  // namespace vernier::model
