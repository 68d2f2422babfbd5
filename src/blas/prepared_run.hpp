// One product with prepared operands on a GPU, by the planes that are there.
#pragma once

#include <algorithm>
#include <type_traits>

#include "base/workspace.hpp"
#include "blas/choice.hpp"
#include "blas/prepared_operand_cuda.hpp"
#include "engine/summed_planes.hpp"
#include "product/operand_blocks.hpp"
#include "residue/convert/winograd_cuda.hpp"
#include "residue/gemm_cuda.hpp"
#include "residue/regularity.hpp"
#include "residue/residues.hpp"

namespace vernier::cuda {

// One factor: prepared, or the caller's.
template <class T>
struct PreparedFactor {
  const PreparedData<T>* prepared = nullptr;
  Operand<T> x;  // the copy, or the caller's
};

// C in blocks of the vectors of one operand, the moving one; all planes of the other, the fixed one, serve each.
template <class T>
class PreparedRun {
 public:
  PreparedRun(const PreparedFactor<T>& a, const PreparedFactor<T>& b, const DeviceInt8Engine& engine,
              const DeviceResidueProblem<T>& problem, const Options& options)
      : problem_(problem),
        options_(options),
        side_(a.prepared != nullptr ? Side::right : Side::left),
        fixed_(a.prepared != nullptr ? *a.prepared : *b.prepared),
        also_prepared_(a.prepared != nullptr ? b.prepared : nullptr),
        x_(a.prepared != nullptr ? b.x : a.x),
        engine_(engine),
        stream_(static_cast<cudaStream_t>(options.stream)) {
    if (also_prepared_ != nullptr && also_prepared_->strassen != fixed_.strassen) also_prepared_ = nullptr;
  }

  // Returns false, with C untouched, where the residues at hand do not serve.
  bool run(PreparedReport& report) {
    const bool alone = without_host(options_);
    // Where the host is not asked there must be nothing to decide: all entries are ordinary under the rule.
    if (alone ? fixed_.rule.componentwise : !may_be_regular()) return false;
    if (!choose_block()) return false;
    const DeviceWorkspace workspace(bytes_, stream_, options_.workspace);
    Arena arena = workspace.arena();
    carve(arena, block_);
    describe(report);
    if (alone) {
      if (also_prepared_ == nullptr) measure({});
      multiply_blocks(true, {});
      return true;
    }
    if (also_prepared_ != nullptr) {
      multiply_blocks(false, {});
      return true;
    }
    RegularityMailbox words(stream_, fixed_.by_sqrt_rule);
    const Regularity regularity = words.regularity();
    check(cudaMemcpyAsync(regularity.state, fixed_.device_regularity, sizeof(RegularityState), cudaMemcpyDeviceToDevice,
                          stream_),
          "prepared operand");
    measure(regularity);
    const bool held = converted_;  // then all follows at once, and does nothing if the product is irregular
    if (held) multiply_blocks(false, {regularity.is_irregular});
    const bool regular = words.wait();
    if (regular && !held) multiply_blocks(false, {});
    return regular;
  }

 private:
  static constexpr std::int64_t least_block = 256;

  ProductShape shape() const { return {problem_.a.vectors, problem_.b.vectors, fixed_.copy.k}; }

  // As far as it is known without the moving operand; with it, where both are prepared, as the kernel that measures
  // both would find.
  bool may_be_regular() const {
    if (also_prepared_ == nullptr) return fixed_.regularity.nonfinite == 0;
    const RegularityState &a = fixed_.regularity, &b = also_prepared_->regularity;
    const auto stand = [](int shortfall, int roughness) {
      return RegularityState::most_allowance - shortfall >= roughness;
    };
    const bool flat = stand(a.shortfall[0], b.roughness[1]) && stand(b.shortfall[1], a.roughness[0]);
    const bool own = a.some_not_own[0] == 0 && b.some_not_own[1] == 0;
    return a.nonfinite == 0 && b.nonfinite == 0 && (!fixed_.rule.componentwise || flat || own);
  }

  bool at_once(std::int64_t block) const { return block >= x_.vectors && x_.k <= fixed_.k_block; }
  bool reads_prepared(std::int64_t block) const { return also_prepared_ != nullptr && block >= x_.vectors; }

  void carve(Arena& arena, std::int64_t block) {
    const auto vectors = static_cast<std::size_t>(x_.vectors);
    statistics_ = also_prepared_ != nullptr ? also_prepared_->statistics : arena.take<VectorStatistics>(vectors);
    scales_ = also_prepared_ != nullptr ? also_prepared_->scales : arena.take<int>(vectors);
    if (!reads_prepared(block)) planes_ = arena.take<std::uint8_t>(fixed_.plane_bytes(block));
    const std::int64_t m = plane_vectors(side_ == Side::left ? block : problem_.a.vectors, fixed_.strassen);
    const std::int64_t n = plane_vectors(side_ == Side::left ? problem_.b.vectors : block, fixed_.strassen);
    const auto planes = static_cast<std::size_t>(fixed_.form.moduli * (fixed_.strassen ? winograd_products : 1));
    c_ = arena.take<std::int8_t>(planes * static_cast<std::size_t>(product_units(m, n).plane_bytes()));
    steps_ = arena.take<std::uint32_t>(1);
    if (limits_of(engine_).int32_sums)
      sums_ = arena.take<std::int32_t>(static_cast<std::size_t>(sums_count(m, n, static_cast<std::int64_t>(planes))));
  }

  bool choose_block() {
    for (block_ = x_.vectors;; block_ = round_up(divide_up(block_, 2), least_block)) {
      Arena count;
      carve(count, block_);
      bytes_ = count.used();
      if (bytes_ <= workspace_limit(bytes_, options_)) return true;
      if (block_ <= least_block) return false;
    }
  }

  void describe(PreparedReport& report) const {
    const ProductShape s = shape();
    Plan& p = report.plan;
    p = explain<T>(Op::none, Op::none, s.m, s.n, s.k, Options{.contract = options_.contract, .engine = fixed_.engine});
    p.moduli = fixed_.form.moduli;
    p.log2_modulus_product = log2_product_of_moduli(p.moduli);
    p.m_block = side_ == Side::left ? block_ : s.m;
    p.n_block = side_ == Side::left ? s.n : block_;
    p.k_block = fixed_.k_block;
    p.workspace = bytes_;
    report.prepared_a = side_ == Side::right || reads_prepared(block_);
    report.prepared_b = side_ == Side::left || reads_prepared(block_);
  }

  // Statistics and scales of the moving operand; its residues with them, where these are all of one kind and one block.
  void measure(const Regularity& regularity) {
    converted_ = at_once(block_) && !fixed_.strassen;
    with_operand<T>(side_, {x_, statistics_, scales_, converted_ ? planes_ : nullptr},
                    [&](const auto& a, const auto& b) {
                      measure_on_device<T>(a, b, fixed_.rule, fixed_.form, regularity, stream_);
                    });
  }

  void multiply_blocks(bool specials, const Gate& gate) const {
    for (std::int64_t v = 0; v < x_.vectors; v += block_) {
      const Range moving{v, std::min(block_, x_.vectors - v)};
      const Range rows = side_ == Side::left ? moving : Range{0, problem_.a.vectors};
      const Range columns = side_ == Side::left ? Range{0, problem_.b.vectors} : moving;
      for (std::int64_t l = 0; l < x_.k; l += fixed_.k_block) {
        const Range ks{l, std::min(fixed_.k_block, x_.k - l)};
        if (!reads_prepared(block_) && !converted_)
          decompose<T>(side_, {part_of(x_, moving, ks), nullptr, scales_ + v, planes_}, fixed_.form, fixed_.strassen,
                       stream_);
        multiply(rows, columns, ks, gate);
      }
      recombine(rows, columns, specials, gate);
    }
  }

  void multiply(Range rows, Range columns, Range ks, const Gate& gate) const {
    const std::uint8_t* moving = reads_prepared(block_) ? also_prepared_->planes(ks.begin) : planes_;
    const std::uint8_t* fixed = fixed_.planes(ks.begin);
    engine_.multiply({.rows = side_ == Side::left ? moving : fixed,
                      .columns = side_ == Side::left ? fixed : moving,
                      .m = plane_vectors(rows.count, fixed_.strassen),
                      .n = plane_vectors(columns.count, fixed_.strassen),
                      .pitch = plane_pitch(ks.count, fixed_.strassen),
                      .moduli = fixed_.form.moduli,
                      .products = fixed_.strassen ? winograd_products : 1,
                      .factor = residue_system(fixed_.form.moduli).row_factor,
                      .accumulate = ks.begin > 0,
                      .out = c_,
                      .gate = gate,
                      .scratch = sums_,
                      .steps = steps_},
                     stream_);
  }

  DeviceRecombination<T> recombination(Range rows, Range columns, bool specials, const Gate& gate) const {
    const Range all{0, x_.k};
    const bool left = side_ == Side::left;
    return {.moduli = fixed_.form.moduli,
            .residues = c_,
            .m = rows.count,
            .n = columns.count,
            .row_scales = (left ? scales_ : fixed_.scales) + rows.begin,
            .column_scales = (left ? fixed_.scales : scales_) + columns.begin,
            .alpha = problem_.alpha,
            .beta = problem_.beta,
            .c = problem_.c + rows.begin + columns.begin * problem_.ldc,
            .ldc = problem_.ldc,
            .gate = gate,
            .specials = specials,
            .a = part_of(problem_.a, rows, all),
            .b = part_of(problem_.b, columns, all),
            .row_statistics = (left ? statistics_ : fixed_.statistics) + rows.begin,
            .column_statistics = (left ? fixed_.statistics : statistics_) + columns.begin};
  }

  void recombine(Range rows, Range columns, bool specials, const Gate& gate) const {
    if (!fixed_.strassen) return recombine_on_device(recombination(rows, columns, specials, gate), stream_);
    const ProductUnits units = product_units(half_vectors(rows.count), half_vectors(columns.count));
    const auto in_units = [&](Range r, Range c, int quarter) {
      DeviceRecombination<T> task = recombination(r, c, specials, gate);
      task.residues += quarter * units.plane_bytes();
      task.units = units;
      task.plane_stride = winograd_products * units.plane_bytes();
      return task;
    };
    if constexpr (std::is_same_v<T, double>)
      if (recombine_winograd_on_device(in_units(rows, columns, 0), stream_)) return;
    combine_winograd_on_device(c_, fixed_.form.moduli, units.plane_bytes(), stream_);
    for (int quarter = 0; quarter < quarters; ++quarter) {
      const Range r = half_of(rows, quarter / 2), c = half_of(columns, quarter % 2);
      if (r.count > 0 && c.count > 0) recombine_on_device(in_units(r, c, quarter), stream_);
    }
  }

  const DeviceResidueProblem<T>& problem_;
  const Options& options_;
  const Side side_;  // of the moving operand
  const PreparedData<T>& fixed_;
  const PreparedData<T>* also_prepared_;  // the moving operand, if it is
  const Operand<T> x_;                    // the moving operand
  const DeviceInt8Engine& engine_;
  cudaStream_t stream_;
  std::int64_t block_ = 0;
  std::size_t bytes_ = 0;
  bool converted_ = false;  // measure() has written the residues
  VectorStatistics* statistics_ = nullptr;
  int* scales_ = nullptr;
  std::uint8_t* planes_ = nullptr;
  std::int8_t* c_ = nullptr;
  std::int32_t* sums_ = nullptr;
  std::uint32_t* steps_ = nullptr;
};

}  // namespace vernier::cuda
