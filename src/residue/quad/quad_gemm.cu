#include "residue/quad/quad_gemm_cuda.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "cuda/device.hpp"
#include "product/backoff.hpp"
#include "product/device_memory.hpp"
#include "product/kept_output.hpp"
#include "product/operand_blocks.hpp"
#include "residue/choice.hpp"
#include "residue/quad/quad_plan.hpp"
#include "residue/quad/quad_update.hpp"
#include "residue/quad/quad_view.hpp"

namespace vernier::cuda {
namespace {

constexpr std::int64_t left_at_once = 1 << 16;

// Scales in device memory, and what the host learns of them.
class ScalesOnDevice final : public QuadScales {
 public:
  ScalesOnDevice(const DeviceQuadSide& a, const DeviceQuadSide& b, DeviceQuadFacts* facts, cudaStream_t stream)
      : a_(a), b_(b), facts_(facts), stream_(stream) {}

  QuadSize guess;                   // set at once where it is expected
  std::function<void()> meanwhile;  // done once, while the host waits for the device

  void expect(const std::vector<QuadSize>& sizes) override {
    expected_ = {};
    for (const QuadSize& size : sizes) {
      if (same(size, guess)) expected_.kept = expected_.count;
      expected_.of[expected_.count++] = size;
    }
    find(expected_);
  }
  QuadExtents set(const QuadSize& size) override {
    chosen_ = size;
    int at = 0;
    while (at < expected_.count && !same(expected_.of[at], size)) ++at;
    if (at == expected_.count) expected_ = {}, at = 0, find({1, 0, {size}});
    maxima_ = found_[at];
    return maxima_.extents();
  }
  void keep(const QuadSize& size) {
    if (same(kept_, size)) return;
    set_quad_scales_on_device(a_, b_, {1, 0, {size}}, facts_, stream_);
    kept_ = size;
  }
  void settle() { keep(chosen_); }  // scales become those of the last set()
  bool chose(const QuadSize& size) const { return same(chosen_, size); }
  std::vector<QuadSampleError> samples() override {
    settle();
    sample_quad_on_device(a_, b_, facts_, stream_);
    const DeviceQuadFacts known = on_host(facts_, 1, stream_)[0];
    std::vector<QuadSampleError> list;
    for (const DeviceQuadFacts::Sample& s : known.samples)
      if (s.exists != 0) list.push_back({s.magnitude, s.error, s.exponent});
    return list;
  }
  const QuadMaxima& maxima() const { return maxima_; }

 private:
  static bool same(const QuadSize& x, const QuadSize& y) { return x.bits == y.bits && x.norm == y.norm; }
  void find(const QuadSizes& sizes) {
    if (sizes.count == 0) return;
    set_quad_scales_on_device(a_, b_, sizes, facts_, stream_);
    static thread_local const PinnedMemory memory(sizeof(found_));
    check(cudaMemcpyAsync(memory.data(), facts_->maxima, sizeof(found_), cudaMemcpyDeviceToHost, stream_), "scales");
    arrived_.record(stream_);
    if (sizes.kept >= 0) kept_ = sizes.of[sizes.kept];
    if (meanwhile) meanwhile(), meanwhile = nullptr;
    arrived_.wait();
    std::memcpy(found_, memory.data(), sizeof(found_));
    if (found_[0].wide != 0) fail_beyond_span();
  }

  const DeviceQuadSide &a_, &b_;
  DeviceQuadFacts* facts_;
  cudaStream_t stream_;
  Event arrived_;
  QuadSizes expected_;
  QuadSize chosen_, kept_;  // kept: of the scales on the device
  QuadMaxima found_[most_expected]{}, maxima_{};
};

DeviceQuadSide part_of(const DeviceQuadSide& side, Range vectors) {
  DeviceQuadSide part = side;
  part.x.data = side.x.at(vectors.begin, 0);
  part.x.vectors = vectors.count;
  part.vectors += vectors.begin, part.scales += vectors.begin, part.dd += vectors.begin;
  return part;
}
QuadView part_of(const QuadView& x, Range vectors, Range ks) {
  QuadView part = x;
  part.data = x.at(vectors.begin, ks.begin);
  part.vectors = vectors.count, part.k = ks.count;
  return part;
}

class QuadRunOnDevice {
 public:
  QuadRunOnDevice(const DeviceQuadProblem& problem, const DeviceInt8Engine& engine, const QuadOptions& options,
                  QuadReport& report)
      : p_(problem),
        engine_(engine),
        options_(options),
        report_(report),
        stream_(static_cast<cudaStream_t>(options.stream)),
        shape_{problem.a.x.vectors, problem.b.x.vectors, problem.a.x.k},
        vectors_(carve_vectors(Arena{}).used(), stream_) {
    Arena arena = vectors_.arena();
    carve_vectors(arena);
  }

  void run() {
    measure_quad_on_device(a_, stream_);
    measure_quad_on_device(b_, stream_);
    ScalesOnDevice scales(a_, b_, facts_, stream_);
    static thread_local Backoff pause;
    const bool guesses = p_.bits != 0 && a_.x.parts == 2 && b_.x.parts == 2 && options_.workspace_limit == 0 &&
                         likely_moduli({p_.bits}) != 0 && pause.should_try();
    if (guesses) scales.guess = likely_size(likely_moduli({p_.bits}));
    if (guesses) scales.meanwhile = [&] { convert_as_guessed(scales); };
    const QuadPlan plan = choose_bits(scales, shape_.k, {p_.bits});
    const int guessed = report_.moduli, guessed_words = words_;
    scales.settle();
    describe(plan, scales.maxima());
    converted_ =
        guessed != 0 && guessed == plan.moduli && guessed_words == words_ && scales.chose(likely_size(guessed));
    if (guesses) pause.tried(!converted_);
    if (!converted_) reserve(plan.moduli);
    try {
      run_blocks();
    } catch (...) {
      if (kept_) kept_->restore();
      throw;
    }
  }

 private:
  static constexpr PassForm form{.exact = true};

  Arena carve_vectors(Arena arena) {
    a_.x = p_.a.x, a_.exponents = p_.a.exponents;
    b_.x = p_.b.x, b_.exponents = p_.b.exponents;
    for (DeviceQuadSide* side : {&a_, &b_}) {
      const auto count = static_cast<std::size_t>(side->x.vectors);
      side->vectors = arena.take<QuadVector>(count);
      side->scales = arena.take<QuadScale>(count);
      side->dd = arena.take<DdVector>(count);
    }
    facts_ = arena.take<DeviceQuadFacts>(1);
    counts_ = arena.take<DeviceDdBlock::Counts>(1);
    left_ = arena.take<LeftEntry>(left_at_once);
    return arena;
  }

  void reserve(int moduli) {
    workspace_.reset();
    const DeviceLimits limits = limits_of(engine_);
    const Options device_options{.stream = options_.stream, .workspace_limit = options_.workspace_limit};
    const std::size_t limit =
        workspace_limit(choose_device_blocking(shape_, moduli, limits, ~std::size_t{0}, form).bytes, device_options);
    blocks_ = choose_device_blocking(shape_, moduli, limits, limit, form);
    require(blocks_.bytes <= limit, "quad_gemm: workspace_limit = {}: expected at least {} bytes of device memory",
            limit, blocks_.bytes);
    workspace_.emplace(blocks_.bytes, stream_);
    Arena arena = workspace_->arena();
    buffers_ = carve_device_pass(arena, blocks_, limits);
  }

  // Both sides as most products of dd have them, so that the device works while the host learns their scales.
  void convert_as_guessed(ScalesOnDevice& scales) {
    const int moduli = likely_moduli({p_.bits});
    reserve(moduli);
    if (blocks_.m_block < shape_.m || blocks_.n_block < shape_.n || blocks_.k_block < shape_.k) return;
    scales.keep(likely_size(moduli));
    report_.moduli = moduli;
    convert(a_, {0, shape_.m}, {0, shape_.k}, buffers_.a);
    convert(b_, {0, shape_.n}, {0, shape_.k}, buffers_.b);
  }

  void describe(const QuadPlan& plan, const QuadMaxima& maxima) {
    words_ = 4;
    const int parts_bit = std::max(a_.x.parts, b_.x.parts) - 1;
    for (const unsigned exponent : maxima.exponent)
      if (static_cast<int>(exponent) - 1 + parts_bit > largest_exponent(2)) words_ = 6;
    report_.bits_a = static_cast<int>(maxima.exponent[0]), report_.bits_b = static_cast<int>(maxima.exponent[1]);
    report_.moduli = plan.moduli;
    report_.integers = maxima.inexact == 0;
  }

  // Of the host, for entries that are left to it.
  struct LeftRoom {
    HostCopy a, b;
    LeftMemory memory;
  };
  void make_room() {
    left_room_ = {p_.a.room_on_host(), p_.b.room_on_host(), {left_at_once, shape_.k, usable_threads(options_.threads)}};
  }

  // Before C is written to: nothing behind that asks for memory of the host, or C is kept.
  void prepare_for_left() {
    try {
      make_room();
    } catch (const std::bad_alloc&) {
      kept_.emplace(shape_.m, shape_.n, p_.c, p_.ldc, stream_);
    }
  }

  void run_blocks() {
    const DeviceBlocking& blocks = blocks_;
    const DevicePassBuffers& buffers = buffers_;
    const bool keep_a = shape_.k <= blocks.k_block;  // the planes of A then serve all blocks of columns
    for (std::int64_t i = 0; i < shape_.m; i += blocks.m_block) {
      const Range rows{i, std::min(blocks.m_block, shape_.m - i)};
      for (std::int64_t j = 0; j < shape_.n; j += blocks.n_block) {
        const Range columns{j, std::min(blocks.n_block, shape_.n - j)};
        for (std::int64_t l = 0; l < shape_.k; l += blocks.k_block) {
          const Range ks{l, std::min(blocks.k_block, shape_.k - l)};
          if (!converted_ && (!keep_a || j == 0)) convert(a_, rows, ks, buffers.a);
          if (!converted_) convert(b_, columns, ks, buffers.b);
          multiply(rows, columns, ks, buffers);
        }
        if (i == 0 && j == 0) prepare_for_left();
        round(rows, columns, buffers);
      }
    }
  }

  void convert(const DeviceQuadSide& side, Range vectors, Range ks, std::uint8_t* planes) const {
    convert_quad_on_device(part_of(side.x, vectors, ks), side.scales + vectors.begin, words_, report_.moduli, planes,
                           stream_);
  }

  void multiply(Range rows, Range columns, Range ks, const DevicePassBuffers& buffers) const {
    engine_.multiply({.rows = buffers.a,
                      .columns = buffers.b,
                      .m = rows.count,
                      .n = columns.count,
                      .pitch = device_pitch(ks.count),
                      .moduli = report_.moduli,
                      .factor = residue_system(report_.moduli).row_factor,
                      .accumulate = ks.begin > 0,
                      .out = buffers.c,
                      .scratch = buffers.sums,
                      .steps = buffers.steps},
                     stream_);
  }

  void round(Range rows, Range columns, const DevicePassBuffers& buffers) {
    const QuadUpdate update = quad_update(p_.alpha, p_.beta);
    const bool exact = p_.bits == 0, turned = update.only_rounded;
    const double share = exact ? 0 : std::ldexp(static_cast<double>(shape_.k), -p_.bits) * (1 - 0x1p-30);
    const DeviceDdBlock block{.moduli = report_.moduli,
                              .residues = buffers.c,
                              .m = rows.count,
                              .n = columns.count,
                              .a = part_of(a_, rows),
                              .b = part_of(b_, columns),
                              .rule = {share, turned && p_.alpha < 0 ? -1.0 : 1.0,
                                       turned ? exponent_of_value(p_.alpha) : 0, exact, exact && !turned, p_.rounding},
                              .alpha = p_.alpha,
                              .beta = p_.beta,
                              .only_rounded = turned,
                              .binary128 = p_.binary128,
                              .integers = report_.integers,
                              .c = p_.c + rows.begin + columns.begin * p_.ldc,
                              .ldc = p_.ldc,
                              .open = buffers.open,
                              .counts = counts_};
    round_dd_on_device(block, stream_);
    told_ = on_host(counts_, 1, stream_, std::move(told_));
    const DeviceDdBlock::Counts& counts = told_[0];
    report_.looked_at += static_cast<std::int64_t>(counts.looked_at);
    const bool settled = block.settles(counts.open);
    const auto left = static_cast<std::int64_t>(settled ? counts.left : counts.open);
    if (left == 0) return;
    const LeftCounts decided = decide_left(block, rows.begin, columns.begin, left);
    report_.looked_at += settled ? 0 : decided.looked_at;  // else they have been counted
    report_.summed += decided.summed;
  }

  LeftCounts decide_left(const DeviceDdBlock& block, std::int64_t i0, std::int64_t j0, std::int64_t count) {
    auto& [a, b, memory] = left_room_;
    if (!a.operand) make_room();
    fill(a, a_), fill(b, b_);
    const LeftProblem problem{*a.operand, *b.operand, a.side,         b.side,      p_.alpha,
                              p_.beta,    p_.bits,    report_.moduli, p_.rounding, p_.binary128};
    LeftCounts all;
    for (std::int64_t first = 0; first < count; first += left_at_once) {
      const std::int64_t some = std::min(left_at_once, count - first);
      gather_left_entries(block, first, some, left_, stream_);
      memory.entries = on_host(left_, some, stream_, std::move(memory.entries));
      const LeftCounts some_counts = decide_left_entries(problem, i0, j0, memory);
      all.looked_at += some_counts.looked_at, all.summed += some_counts.summed;
      to_device(left_, memory.entries, stream_);
      scatter_left_entries(block, some, left_, stream_);
      check(cudaStreamSynchronize(stream_), "entries");
    }
    return all;
  }

  void fill(HostCopy& host, const DeviceQuadSide& from) const {
    check(cudaMemcpy2DAsync(host.elements.get(), host.length, host.from, host.pitch, host.length, host.lines,
                            cudaMemcpyDeviceToHost, stream_),
          "copy to the host");
    host.side.vectors = on_host(from.vectors, from.x.vectors, stream_, std::move(host.side.vectors));
    host.side.scales = on_host(from.scales, from.x.vectors, stream_, std::move(host.side.scales));
  }

  const DeviceQuadProblem& p_;
  const DeviceInt8Engine& engine_;
  const QuadOptions& options_;
  QuadReport& report_;
  cudaStream_t stream_;
  const ProductShape shape_;
  DeviceQuadSide a_, b_;
  DeviceQuadFacts* facts_ = nullptr;
  DeviceDdBlock::Counts* counts_ = nullptr;
  std::vector<DeviceDdBlock::Counts> told_ = std::vector<DeviceDdBlock::Counts>(1);
  LeftEntry* left_ = nullptr;
  int words_ = 4;
  bool converted_ = false;
  DeviceBlocking blocks_;
  DevicePassBuffers buffers_;
  DeviceWorkspace vectors_;
  std::optional<DeviceWorkspace> workspace_;
  LeftRoom left_room_;
  std::optional<KeptOutput<dd>> kept_;
};

}  // namespace

void quad_product_on_device(const DeviceQuadProblem& problem, const DeviceInt8Engine& engine,
                            const QuadOptions& options, QuadReport& report) {
  QuadRunOnDevice(problem, engine, options, report).run();
}

}  // namespace vernier::cuda
