// Ozaki scheme I on a GPU: split, multiply slice by slice with cuBLAS, add. slice/gemm.cpp is the same on the CPU.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "base/status.hpp"
#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "number/ieee754.hpp"
#include "product/call.hpp"
#include "product/device_memory.hpp"
#include "product/operand_blocks.hpp"
#include "product/scale.hpp"
#include "slice/operand.hpp"
#include "slice/products.hpp"
#include "slice/products_engine_cuda.hpp"
#include "slice/slices_cuda.hpp"
#include "vernier/slices.hpp"

namespace vernier::cuda {
namespace {

constexpr std::int64_t least_block = 256;

template <class T>
class DeviceSliceRun {
 public:
  DeviceSliceRun(const Operand<T>& a, const Operand<T>& b, T alpha, T beta, T* c, std::int64_t ldc,
                 const SliceOptions& options, cudaStream_t stream)
      : options_(options),
        engine_(find_cublas_slices(options.engine)),
        stream_(stream),
        memory_(stream),
        clock_(stream),
        a_(a),
        b_(b),
        rows_(a, engine_.format, memory_, stream),
        columns_(b, engine_.format, memory_, stream) {
    const bool integer = engine_.format == SliceFormat::int8;
    require(!options.grouped || integer, "gemm_by_slices: grouped: engine \"{}\" adds no integers", options.engine);
    require(!integer || options.k_block % SlicedOperand<T>::pitch_unit == 0,
            "gemm_by_slices: k_block = {}: expected a multiple of {}", options.k_block, SlicedOperand<T>::pitch_unit);
    block_.alpha.value = alpha;
    block_.beta.value = beta;
    block_.c = c;
    block_.ldc = ldc;
    block_.specials = true;
    correctly_rounded_ = options.mode == SliceMode::correctly_rounded;
    k_block_ = options.k_block == 0 ? a.k : std::min(options.k_block, a.k);
    report_.engine = options.engine;
    report_.mode = correctly_rounded_ ? "CR" : sizeof(T) == 4 ? "SP" : "DP";
  }

  SliceReport run() {
    clock_.run(report_.seconds_split, [&] {
      split();
      plan_products();
    });
    ld_ = round_up(m_block_, 4);
    products_ = memory_.template take<std::byte>(plan_.count * product_bytes() * ld_ * n_block_);
    if (correctly_rounded_) block_.open = memory_.template take<std::uint32_t>(m_block_ * n_block_);
    open_counts_ = memory_.template take<DeviceOpenCounts>(1);
    check(cudaMemsetAsync(open_counts_, 0, sizeof *open_counts_, stream_), "open entries");
    SliceTerm* terms = memory_.template take<SliceTerm>(static_cast<std::int64_t>(plan_.terms.size()));
    to_device(terms, plan_.terms, stream_);
    const int *row_exponents = rows_.exponents(report_.slices_a),
              *column_exponents = columns_.exponents(report_.slices_b);
    for (std::int64_t i = 0; i < a_.vectors; i += m_block_)
      for (std::int64_t j = 0; j < b_.vectors; j += n_block_) {
        const Range rows{i, std::min(m_block_, a_.vectors - i)}, columns{j, std::min(n_block_, b_.vectors - j)};
        clock_.run(report_.seconds_products, [&] { multiply(rows, columns); });
        clock_.run(report_.seconds_sum, [&] { add(rows, columns, terms, row_exponents + i, column_exponents + j); });
      }
    clock_.finish();
    report_.workspace = memory_.bytes();
    return report_;
  }

 private:
  std::int64_t product_bytes() const { return engine_.format == SliceFormat::fp64 ? 8 : 4; }

  int bits_for(int slices) const { return engine_.bits(k_block_ * (options_.grouped ? slices : 1)); }

  void split() {
    // Grouped sums need room that depends on the number of slices, which depends on the bits: as many as are enough.
    for (int room = 4;; room *= 2) {
      report_.bits = bits_for(room);
      split_with(report_.bits);
      if (!options_.grouped || std::max(report_.slices_a, report_.slices_b) <= room) break;
    }
  }

  void split_with(int bits) {
    rows_.restart();
    columns_.restart();
    const double tolerance = std::sqrt(static_cast<double>(a_.k)) * std::ldexp(1.0, -Ieee754<T>::precision);
    int in_a = 0, in_b = 0;
    for (;;) {
      const bool a_empty = rows_.empty_after(in_a), b_empty = columns_.empty_after(in_b);
      const int d = std::max(in_a, in_b);
      if (a_empty && b_empty) break;
      if (!correctly_rounded_ && d > 0) {
        report_.left_a = rows_.left_after(in_a);
        report_.left_b = columns_.left_after(in_b);
        const bool enough = std::max(report_.left_a, report_.left_b) <= tolerance;
        if (options_.slices == 0 ? enough : d == options_.slices) break;
      }
      if (!a_empty) rows_.need(in_a++, columns_, bits, options_.grouped);
      if (!b_empty) columns_.need(in_b++, rows_, bits, options_.grouped);
    }
    const bool a_empty = rows_.empty_after(in_a), b_empty = columns_.empty_after(in_b);
    if (a_empty) report_.left_a = 0;
    if (b_empty) report_.left_b = 0;
    report_.slices_a = in_a;
    report_.slices_b = in_b;
    report_.fast = !correctly_rounded_ && !options_.all_products && !(a_empty && b_empty);
  }

  void plan_products() {
    SliceCounts counts{.fast = report_.fast,
                       .grouped = options_.grouped,
                       .k = a_.k,
                       .k_block = k_block_,
                       .neighbours = slices_at_once,
                       .any_order = correctly_rounded_};
    for (int p = 0; p < report_.slices_a; ++p) counts.zero_a.push_back(rows_.zero(p));
    for (int q = 0; q < report_.slices_b; ++q) counts.zero_b.push_back(columns_.zero(q));
    plan_ = plan_slice_products(counts);
    choose_block();
    for (int p = 0; p < report_.slices_a; ++p) counts.few_a.push_back(few(rows_, p, m_block_, n_block_));
    for (int q = 0; q < report_.slices_b; ++q) counts.few_b.push_back(few(columns_, q, n_block_, m_block_));
    plan_ = plan_slice_products(counts);
    report_.products = plan_.products;
    prepare_sparse();
  }

  // Do products of blocks of own x others vectors go around cuBLAS, by the few digits of that slice?
  bool few(const SlicedOperand<T>& x, int slice, std::int64_t own, std::int64_t others) const {
    constexpr double most_forced = 1.0 / 64;  // of all digits
    const auto digits = static_cast<double>(x.digits_in(slice)), all = static_cast<double>(x.elements());
    if (digits == 0 || options_.sparse == 0) return false;
    if (!sparse_possible(engine_.format, report_.bits) || own > most_few_vectors) return false;
    if (options_.sparse == 1) return digits <= most_forced * all;
    const auto v = static_cast<double>(own), w = static_cast<double>(others), k = static_cast<double>(k_block_);
    return sparse_pays(v, w, k, digits / all * v * k, w, engine_.rates);
  }

  // What the products that go around cuBLAS read.
  void prepare_sparse() {
    std::set<int> lists_a, lists_b, turned_a, turned_b;
    for (const SliceJob& job : plan_.jobs) {
      if (job.few == SliceJob::Few::a) lists_a.insert(job.p), turned_b.insert(job.q);
      if (job.few == SliceJob::Few::b) lists_b.insert(job.q), turned_a.insert(job.p);
    }
    for (const int p : lists_a) rows_.list(p);
    for (const int q : lists_b) columns_.list(q);
    for (const int p : turned_a) rows_.turn(p);
    for (const int q : turned_b) columns_.turn(q);
  }

  void choose_block() {
    m_block_ = a_.vectors;
    n_block_ = b_.vectors;
    if (options_.block != 0) {
      const std::int64_t block = round_up(options_.block, SlicedOperand<T>::pitch_unit);
      m_block_ = std::min(m_block_, block);
      n_block_ = std::min(n_block_, block);
    }
    const auto limit = static_cast<std::int64_t>(available_device_memory() / 2);
    const std::int64_t entry = plan_.count * product_bytes() + static_cast<std::int64_t>(sizeof(std::uint32_t));
    constexpr std::int64_t most_columns = 65535;  // of a grid
    while (entry * round_up(m_block_, 4) * n_block_ > limit || n_block_ > most_columns) {
      std::int64_t& larger = n_block_ >= m_block_ ? n_block_ : m_block_;
      if (larger <= least_block) break;
      larger = round_up(divide_up(larger, 2), least_block);
    }
  }

  void multiply(Range rows, Range columns) {
    Cublas& cublas = thread_cublas();
    cublas.set_stream(stream_);
    cublas.set_pointer_mode(CUBLAS_POINTER_MODE_HOST);
    const float one_float = 1, zero_float = 0;
    const int one_int = 1, zero_int = 0;
    const double one_double = 1, zero_double = 0;
    const bool integer = engine_.format == SliceFormat::int8, wide = engine_.format == SliceFormat::fp64;
    const void* one = integer ? static_cast<const void*>(&one_int)
                      : wide  ? static_cast<const void*>(&one_double)
                              : &one_float;
    const void* zero = integer ? static_cast<const void*>(&zero_int)
                       : wide  ? static_cast<const void*>(&zero_double)
                               : &zero_float;
    const std::int64_t size = ld_ * n_block_;
    report_.skipped += plan_.skipped;
    for (const SliceJob& job : plan_.jobs) {
      report_.multiplied += job.count;
      const bool last = job.l + k_block_ >= a_.k;
      if (job.few != SliceJob::Few::none) {
        multiply_few(job, rows, columns, products_ + job.product * size * product_bytes());
        continue;
      }
      const std::int64_t k = last ? rows_.pitch() - job.l : k_block_;
      cublas.gemm_batch_ex(
          Op::transpose, Op::none, rows.count, columns.count, k, one, rows_.digits(job.p, rows.begin, job.l),
          engine_.input, rows_.pitch(), 0, columns_.digits(job.q, columns.begin, job.l), engine_.input,
          columns_.pitch(), columns_.slice_step(), job.accumulate ? one : zero,
          products_ + job.product * size * product_bytes(), engine_.output, ld_, size, job.count, engine_.compute);
    }
  }

  void multiply_few(const SliceJob& job, Range rows, Range columns, std::byte* product) {
    const bool rows_few = job.few == SliceJob::Few::a;
    ++report_.sparse;
    multiply_sparse({.few = rows_few ? rows_.sparse(job.p, rows.begin) : columns_.sparse(job.q, columns.begin),
                     .other = rows_few ? columns_.turned(job.q, columns.begin) : rows_.turned(job.p, rows.begin),
                     .few_are_rows = rows_few,
                     .m = rows.count,
                     .n = columns.count,
                     .begin_k = job.l,
                     .depth = std::min(k_block_, a_.k - job.l),
                     .format = engine_.format,
                     .product = product,
                     .ld = ld_,
                     .accumulate = job.accumulate},
                    stream_);
  }

  void add(Range rows, Range columns, const SliceTerm* terms, const int* row_exponents, const int* column_exponents) {
    const Range all{0, a_.k};
    SliceSum<T> sum{.format = engine_.format,
                    .products = products_,
                    .ld = ld_,
                    .product_size = ld_ * n_block_,
                    .terms = terms,
                    .term_count = static_cast<int>(plan_.terms.size()),
                    .row_exponents = row_exponents,
                    .column_exponents = column_exponents,
                    .row_stride = a_.vectors,
                    .column_stride = b_.vectors,
                    .block = block_};
    DeviceExactBlock<T>& block = sum.block;
    block.m = rows.count;
    block.n = columns.count;
    block.a = part_of(a_, rows, all);
    block.b = part_of(b_, columns, all);
    block.row_statistics = rows_.statistics() + rows.begin;
    block.column_statistics = columns_.statistics() + columns.begin;
    block.c += rows.begin + columns.begin * block.ldc;
    block.counts = open_counts_;
    if (correctly_rounded_) {
      round_slices_on_device(sum, stream_);
      accumulate_on_device(block, stream_);
    } else {
      add_slices_on_device(sum, stream_);
    }
    special_entries_on_device(block, stream_);
  }

  const SliceOptions& options_;
  const CublasSlices& engine_;
  cudaStream_t stream_;
  Memory memory_;
  StageClock clock_;
  Operand<T> a_, b_;
  SlicedOperand<T> rows_, columns_;
  DeviceExactBlock<T> block_;
  bool correctly_rounded_ = false;
  std::int64_t k_block_ = 0, m_block_ = 0, n_block_ = 0, ld_ = 0;
  std::byte* products_ = nullptr;
  DeviceOpenCounts* open_counts_ = nullptr;
  SliceProducts plan_;
  SliceReport report_;
};

}  // namespace

template <class T>
SliceReport gemm_by_slices(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
                           std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                           const SliceOptions& options, void* stream) {
  const auto start = std::chrono::steady_clock::now();
  check_call("gemm_by_slices", GemmCall<T>{opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc});
  check_slice_options(options);
  if (current_device().compute_capability < 80)
    fail(Status::unsupported, "gemm_by_slices: {} has no compute capability of 8.0 or later", current_device().name);
  require(k <= longest_slice_k, "gemm_by_slices: k = {}: expected at most {} on a GPU", k, longest_slice_k);
  const auto queue = static_cast<cudaStream_t>(stream);
  SliceReport report;
  report.engine = options.engine;
  if (m > 0 && n > 0) {
    if (alpha != 0 && k > 0) {
      report = DeviceSliceRun<T>(rows_of(opa, A, m, k, lda), columns_of(opb, B, n, k, ldb), alpha, beta, C, ldc,
                                 options, queue)
                   .run();
    } else {
      scale_on_device<T>(m, n, {.value = beta}, C, ldc, Rounding::nearest, queue);
      check(cudaStreamSynchronize(queue), "gemm_by_slices");
    }
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

template SliceReport gemm_by_slices(Op, Op, std::int64_t, std::int64_t, std::int64_t, double, const double*,
                                    std::int64_t, const double*, std::int64_t, double, double*, std::int64_t,
                                    const SliceOptions&, void*);
template SliceReport gemm_by_slices(Op, Op, std::int64_t, std::int64_t, std::int64_t, float, const float*, std::int64_t,
                                    const float*, std::int64_t, float, float*, std::int64_t, const SliceOptions&,
                                    void*);

}  // namespace vernier::cuda
