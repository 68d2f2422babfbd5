// Whole products on a modelled engine: k order, runs, split-K, sums outside the engine.
#include "model/replay.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/cpu_features.hpp"
#include "base/status.hpp"
#include "model/element.hpp"
#include "model/tile.hpp"

namespace vernier::model {
namespace {

constexpr int largest_block = 256;
constexpr int band_rows = 256;  // packing a strip of B costs as much as some ten rows

// Instructions [begin, end) are summed inside the engine.
struct Run {
  std::int64_t begin = 0, end = 0;
  bool starts_part = false;
};

struct ProductOrder {
  std::vector<std::int64_t> k;  // engine.k entries per instruction; -1 is a padding zero
  std::vector<Run> runs;
};

ProductOrder make_order(const Engine& e, const Replay& r, std::int64_t k) {
  std::vector<std::int64_t> walk = r.k_order;
  if (walk.empty()) {
    walk.resize(static_cast<std::size_t>(k));
    std::iota(walk.begin(), walk.end(), std::int64_t{0});
  }
  ProductOrder order;
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

// One thread's share of a replayed product: a band of rows of A, packed, against one strip of columns of B after the
// other.
class StripProduct {
 public:
  // path: null for the scalar model. runs_move_out: each run is summed from zero and added outside the engine.
  StripProduct(const Engine& e, const VectorPath* path, const ProductOrder& order, int rows, int columns,
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

  // Rows i ... i + rows of columns j ... j + width; no more of either than the constructor was told.
  void compute(const StripOperands& x, std::int64_t i, int rows, std::int64_t j, int width) {
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

 private:
  static constexpr int widest = 16, group_rows = 4;
  struct Group {  // of rows that are computed together
    int first, count;
  };
  struct Words {
    std::uint64_t word[group_rows][widest] = {};
  };
  struct Slow {
    const StripProduct* product;
    int first_row;
    std::int64_t begin;  // instruction at which the run begins
  };

  std::size_t at(int i) const { return static_cast<std::size_t>(i) * kp_; }

  void load_rows(const StripOperands& x, std::int64_t i, int rows) {
    if (i == loaded_row_) return;
    loaded_row_ = i;
    for (int r = 0; r < rows; ++r) {
      gather(e_.a, x.A, (i + r) * x.lda, order_, &a_words_[at(r)]);
      row_odd_[static_cast<std::size_t>(r)] =
          path_ != nullptr && pack(e_, e_.a, &a_words_[at(r)], kp_, &a_significand_[at(r)], &a_exponent_[at(r)], 1);
    }
  }

  void load_columns(const StripOperands& x, std::int64_t j, int width) {
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

  // Parts of k are summed alone, the first from C; within a part, runs inside the engine.
  Words products(const Group& group, const Words& c) const {
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

  void add_outside(const Group& group, Words& to, const Words& from) const {
    for (int r = 0; r < group.count; ++r)
      for (int j = 0; j < columns_; ++j) to.word[r][j] = model::add_outside(e_, to.word[r][j], from.word[r][j]);
  }

  void advance(const Group& group, const Run& run, Words& c) const {
    if (run.begin == run.end) return;  // k = 0
    bool odd = path_ == nullptr || columns_odd_;
    for (int r = 0; r < group.count; ++r) odd = odd || row_odd_[static_cast<std::size_t>(group.first + r)];
    if (!odd) return advance_vector(group, run, c);
    for (int r = 0; r < group.count; ++r) advance_scalar(group.first + r, run, c.word[r]);
  }

  void advance_scalar(int row, const Run& run, std::uint64_t* c) const {
    for (int j = 0; j < columns_; ++j)
      for (std::int64_t i = run.begin; i < run.end; ++i)
        c[j] = element<largest_block>(e_, &a_words_[at(row) + static_cast<std::size_t>(i * e_.k)],
                                      &b_words_[at(j) + static_cast<std::size_t>(i * e_.k)], c[j]);
  }

  // Block q after the run's begin, for one row of the group and one lane.
  static std::uint32_t scalar_block(const void* context, int row, int q, int j, std::uint32_t c) {
    const Slow& slow = *static_cast<const Slow*>(context);
    const StripProduct& p = *slow.product;
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

  void advance_vector(const Group& group, const Run& run, Words& c) const {
    alignas(64) std::uint32_t words[group_rows * widest] = {};
    const auto word = [&](int r, int j) -> std::uint32_t& { return words[r * columns_ + j]; };
    const auto k0 = static_cast<std::size_t>(run.begin * e_.k), from = k0 * static_cast<std::size_t>(columns_);
    RowOperand rows[group_rows];
    for (int r = 0; r < group.count; ++r) {
      rows[r] = {&a_significand_[at(group.first + r) + k0], &a_exponent_[at(group.first + r) + k0]};
      for (int j = 0; j < columns_; ++j) word(r, j) = static_cast<std::uint32_t>(c.word[r][j]);
    }
    const Slow slow{this, group.first, run.begin};
    path_->rows({.rule = {e_.fraction_bits, e_.zero_exponent},
                 .block = e_.block,
                 .blocks = static_cast<int>((run.end - run.begin) * (e_.k / e_.block)),
                 .rows = rows,
                 .row_count = group.count,
                 .strip = {&b_significand_[from], &b_exponent_[from]},
                 .c = words,
                 .scalar = scalar_block,
                 .context = &slow});
    for (int r = 0; r < group.count; ++r)
      for (int j = 0; j < columns_; ++j) c.word[r][j] = word(r, j);
  }

  const Engine& e_;
  const VectorPath* path_;
  const ProductOrder& order_;
  std::size_t kp_;
  int columns_;
  bool runs_move_out_;
  std::int64_t loaded_row_ = -1;
  std::vector<char> row_odd_;  // does the row hold an infinity or a NaN?
  bool columns_odd_ = false;
  std::vector<std::uint64_t> a_words_, b_words_;
  std::vector<float> a_significand_, b_significand_;
  std::vector<std::int32_t> a_exponent_, b_exponent_;
};

void check_arguments(const Replay& r, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda,
                     std::int64_t ldb, std::int64_t ldc) {
  constexpr const char* least = "model::multiply: {} is {}; expected at least {}";
  require(m >= 0 && n >= 0 && k >= 0, "model::multiply: m, n and k must not be negative");
  require(lda >= std::max<std::int64_t>(1, k), least, "lda", lda, "max(1, k)");
  require(ldb >= std::max<std::int64_t>(1, k), least, "ldb", ldb, "max(1, k)");
  require(ldc >= std::max<std::int64_t>(1, m), least, "ldc", ldc, "max(1, m)");
  require(r.run >= 0, "model::multiply: run is {}; expected 0 or more", r.run);
  require(r.split_k >= 1, least, "split_k", r.split_k, 1);
  if (r.k_order.empty()) return;
  std::vector<bool> seen(static_cast<std::size_t>(k), false);
  bool permutation = static_cast<std::int64_t>(r.k_order.size()) == k;
  for (std::int64_t i : r.k_order) {
    permutation = permutation && i >= 0 && i < k && !seen[static_cast<std::size_t>(i)];
    if (permutation) seen[static_cast<std::size_t>(i)] = true;
  }
  require(permutation, "model::multiply: k_order is no permutation of 0 to k - 1");
}

}  // namespace

#if VERNIER_X86
const VectorPath* find_vector_path(std::string_view name) {
  static constexpr VectorPath avx512{"avx512", 16, rows_avx512};
  static constexpr VectorPath avx2{"avx2", 8, rows_avx2};
  const auto usable = [&](const VectorPath& path, InstructionSet set) {
    return (name.empty() || name == path.name) && missing_features(set).empty();
  };
  if (usable(avx512, InstructionSet::avx512_vnni)) return &avx512;
  if (usable(avx2, InstructionSet::avx2)) return &avx2;
  return nullptr;
}
#else
const VectorPath* find_vector_path(std::string_view) { return nullptr; }
#endif

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
  return element<largest_block>(engine, a, b, c);
}

void multiply(const Engine& engine, const Replay& replay, std::int64_t m, std::int64_t n, std::int64_t k, const void* A,
              std::int64_t lda, const void* B, std::int64_t ldb, const void* C, void* D, std::int64_t ldc) {
  multiply_on(replay.scalar ? "scalar" : "", engine, replay, m, n, k, {A, lda, B, ldb, C, D, ldc});
}

void multiply_on(std::string_view path_name, const Engine& e, const Replay& replay, std::int64_t m, std::int64_t n,
                 std::int64_t k, const StripOperands& operands) {
  validate(e);
  check_arguments(replay, m, n, k, operands.lda, operands.ldb, operands.ldc);
  const VectorPath* path = path_name == "scalar" || !vector_path_fits(e) ? nullptr : find_vector_path(path_name);
  const ProductOrder order = make_order(e, replay, k);
  const int columns = path == nullptr ? 16 : path->lanes;
  const std::int64_t bands = (m + band_rows - 1) / band_rows, strips = (n + columns - 1) / columns;
  const int available = omp_in_parallel() != 0 ? 1 : omp_get_max_threads();
  const auto threads = static_cast<int>(std::clamp<std::int64_t>(bands * strips, 1, std::max(1, available)));
  std::vector<StripProduct> products;  // one a thread; memory runs out here or nowhere
  products.reserve(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t)
    products.emplace_back(e, path, order, static_cast<int>(std::min<std::int64_t>(band_rows, m)), columns,
                          replay.run != 0);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t tile = 0; tile < bands * strips; ++tile) {  // elements are independent: any order, the same bits
    StripProduct& product = products[static_cast<std::size_t>(omp_get_thread_num())];
    const std::int64_t i = tile / strips * band_rows, j = tile % strips * columns;
    product.compute(operands, i, static_cast<int>(std::min<std::int64_t>(band_rows, m - i)), j,
                    static_cast<int>(std::min<std::int64_t>(columns, n - j)));
  }
}

}  // namespace vernier::model
