// Ozaki scheme I on a GPU: split, multiply slice by slice with cuBLAS, add. slice/gemm.cpp is the same on the CPU.
#include <algorithm>
#include <string>
#include <vector>

#include "base/duration.hpp"
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "product/call.hpp"
#include "product/device_memory.hpp"
#include "product/kept_output.hpp"
#include "product/operand_blocks.hpp"
#include "product/scale.hpp"
#include "product/sides.hpp"
#include "slice/operand.hpp"
#include "slice/products.hpp"
#include "slice/slices_cuda.hpp"
#include "vernier/level3.hpp"
#include "vernier/slices.hpp"

namespace vernier::cuda {
namespace {

constexpr std::int64_t least_block = 256;

// A product of cuBLAS that multiplies slices.
struct CublasSlices {
  const char* name;
  SliceFormat format;
  cudaDataType_t input, output;
  cublasComputeType_t compute;
  std::vector<const char*> rows;  // of the model's table: what cuBLAS may run on

  // Of a slice, for sums over k that lose nothing.
  int bits(std::int64_t k) const {
    int least = 30;
    for (const char* row : rows) least = std::min(least, SliceEngine(row).bits(k));
    return least;
  }
};

const CublasSlices& find_cublas_slices(const std::string& name) {
  static const std::vector<CublasSlices> all = {
      {"cublas-fp16",
       SliceFormat::fp16,
       CUDA_R_16F,
       CUDA_R_32F,
       CUBLAS_COMPUTE_32F,
       {"ampere-fp16-fp32", "hopper-mma-fp16-fp32", "hopper-wgmma-fp16-fp32"}},
      {"cublas-bf16",
       SliceFormat::bf16,
       CUDA_R_16BF,
       CUDA_R_32F,
       CUBLAS_COMPUTE_32F,
       {"ampere-bf16-fp32", "hopper-mma-bf16-fp32", "hopper-wgmma-bf16-fp32"}},
      {"cublas-int8", SliceFormat::int8, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, {"nvidia-int8"}},
      {"blas", SliceFormat::fp64, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, {"blas"}}};
  for (const CublasSlices& engine : all)
    if (name == engine.name) return engine;
  fail(Status::unsupported,
       "gemm_by_slices: engine \"{}\": on a GPU expected cublas-fp16, cublas-bf16, cublas-int8 or blas", name);
}

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
        operands_{a, b},
        sliced_{{a, engine_.format, memory_, stream}, {b, engine_.format, memory_, stream}} {
    const bool integer = engine_.format == SliceFormat::int8;
    require(!integer || options.k_block % SlicedOperand<T>::pitch_unit == 0,
            "gemm_by_slices: k_block = {}: expected a multiple of {}", options.k_block, SlicedOperand<T>::pitch_unit);
    block_.to = {{alpha}, {beta}, c, ldc};
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
    const Sides<const int*> exponents{sliced_.a.exponents(count_.a), sliced_.b.exponents(count_.b)};
    run_blocks(terms, exponents);
    clock_.finish();
    report_.workspace = memory_.bytes();
    return report_;
  }

 private:
  // A later block may fail: its events and cuBLAS take memory.
  void run_blocks(const SliceTerm* terms, const Sides<const int*>& exponents) {
    const std::int64_t m = operands_.a.vectors, n = operands_.b.vectors;
    if (m <= m_block_ && n <= n_block_) return run_each_block(terms, exponents);
    KeptOutput<T> kept(m, n, block_.to.c, block_.to.ldc, stream_);
    try {
      run_each_block(terms, exponents);
    } catch (...) {
      kept.restore();
      throw;
    }
  }

  void run_each_block(const SliceTerm* terms, const Sides<const int*>& exponents) {
    const std::int64_t m = operands_.a.vectors, n = operands_.b.vectors;
    for (std::int64_t i = 0; i < m; i += m_block_)
      for (std::int64_t j = 0; j < n; j += n_block_) {
        const Range rows{i, std::min(m_block_, m - i)}, columns{j, std::min(n_block_, n - j)};
        clock_.run(report_.seconds_products, [&] { multiply(rows, columns); });
        clock_.run(report_.seconds_sum, [&] { add(rows, columns, terms, {exponents.a + i, exponents.b + j}); });
      }
  }

  std::int64_t product_bytes() const { return engine_.format == SliceFormat::fp64 ? 8 : 4; }

  std::int64_t k() const { return operands_.a.k; }

  void split() {
    report_.bits = engine_.bits(k_block_);
    for (const Side side : both_sides) sliced_[side].gather();
    count_ = split_as_asked<T>(
        options_, k(), [&](Side side, int slices) { return sliced_[side].empty_after(slices); },
        [&](Side side, int slices) { return sliced_[side].left_after(slices); },
        [&](Side side, int slice) { sliced_[side].need(slice, sliced_[other(side)], report_.bits); }, report_);
  }

  void plan_products() {
    plan_ = plan_slice_products({.slices = count_,
                                 .fast = report_.fast,
                                 .k = k(),
                                 .k_block = k_block_,
                                 .neighbours = slices_at_once,
                                 .any_order = correctly_rounded_});
    report_.products = plan_.count / divide_up(k(), k_block_);
    choose_block();
  }

  void choose_block() {
    m_block_ = operands_.a.vectors, n_block_ = operands_.b.vectors;
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
    const auto& [a, b] = sliced_;
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
    for (const SliceJob& job : plan_.jobs) {
      report_.multiplied += job.count;
      const bool last = job.l + k_block_ >= k();
      const std::int64_t depth = last ? a.pitch() - job.l : k_block_;
      cublas.gemm_batch_ex(Op::transpose, Op::none, rows.count, columns.count, depth, one,
                           a.digits(job.p, rows.begin, job.l), engine_.input, a.pitch(), 0,
                           b.digits(job.q, columns.begin, job.l), engine_.input, b.pitch(), b.slice_step(), zero,
                           products_ + job.product * size * product_bytes(), engine_.output, ld_, size, job.count,
                           engine_.compute);
    }
  }

  void add(Range rows, Range columns, const SliceTerm* terms, const Sides<const int*>& exponents) {
    const Range all{0, k()};
    SliceSum<T> sum{.format = engine_.format,
                    .products = products_,
                    .ld = ld_,
                    .product_size = ld_ * n_block_,
                    .terms = terms,
                    .term_count = static_cast<int>(plan_.terms.size()),
                    .exponents = exponents,
                    .strides = {operands_.a.vectors, operands_.b.vectors},
                    .block = block_};
    DeviceExactBlock<T>& block = sum.block;
    block.m = rows.count;
    block.n = columns.count;
    block.side = {{part_of(operands_.a, rows, all), sliced_.a.statistics() + rows.begin},
                  {part_of(operands_.b, columns, all), sliced_.b.statistics() + columns.begin}};
    block.to = block.to.at(rows.begin, columns.begin);
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
  Sides<Operand<T>> operands_;
  Sides<SlicedOperand<T>> sliced_;
  Sides<int> count_;  // of slices
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
  const Clock clock;
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
  report.seconds = clock.seconds();
  return report;
}

VERNIER_REAL_INSTANCES(gemm_by_slices)

}  // namespace vernier::cuda
