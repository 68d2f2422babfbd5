// One product with prepared operands on a GPU, by the planes that are there.
#pragma once

#include <optional>

#include "base/workspace.hpp"
#include "blas/choice.hpp"
#include "cuda/device.hpp"
#include "engine/int8_engine_cuda.hpp"
#include "product/device_memory.hpp"
#include "residue/chain.hpp"
#include "residue/convert/convert.hpp"
#include "residue/convert/winograd.hpp"
#include "residue/plan/plan_cuda.hpp"
#include "residue/regularity.hpp"
#include "vernier/prepared.hpp"

namespace vernier::cuda {

template <class T>
struct PreparedData : PreparedFacts {
  PreparedData(Side side, Op op, std::int64_t rows, std::int64_t columns, const T* X, std::int64_t ldx,
               const Options& options);
  // Of an operand that stays where it is, with memory of the library's pool, for products on that stream alone.
  PreparedData(Side side, const Operand<T>& x, const Options& options);
  ~PreparedData() {
    const CaptureTolerance tolerance;  // else memory could not be given back while a graph is captured
    memory_ = {};
  }

  Operand<T> copy;  // rows of op(X), or columns, or what stays where it is; everything below is of all its vectors
  ScalingRule rule;
  bool by_sqrt_rule = false;  // rule is sqrt_rule()
  ConversionForm form;
  std::int64_t k_block = 0;
  VectorStatistics* statistics = nullptr;
  int* scales = nullptr;
  RegularityState regularity{};  // this operand's part in it, and the same on the device:
  RegularityState* device_regularity = nullptr;

  // Residues of the block of k that begins there.
  std::uint8_t* planes(std::int64_t k_begin) const {
    return planes_ + static_cast<std::size_t>(k_begin / k_block) * plane_bytes(copy.vectors);
  }
  // Of all moduli, for that many vectors and a block of k.
  std::size_t plane_bytes(std::int64_t vectors) const {
    return static_cast<std::size_t>(form.moduli * (strassen ? winograd_products : 1)) *
           static_cast<std::size_t>(plane_vectors(vectors, strassen)) *
           static_cast<std::size_t>(plane_pitch(k_block, strassen));
  }

 private:
  void choose(const DeviceInt8Engine& engine, int strassen_levels);
  T* carve(Arena& arena, std::size_t copied);  // room for so many elements, and for what is made of them
  void own_copy(Op op, const T* X, std::int64_t ldx, cudaStream_t stream);
  void make_planes(cudaStream_t stream);
  void summarise(cudaStream_t stream);

  DeviceBuffer<std::byte> memory_;
  std::optional<DeviceWorkspace> pooled_;  // in its place
  std::uint8_t* planes_ = nullptr;
};

// Calls work(a, b) with one operand on its side, and beside it one of no vectors.
template <class T, class Work>
void with_operand(Side side, const DeviceOperand<T>& x, Work work) {
  const DeviceOperand<T> nothing{{.k = x.x.k, .ld = 1}, nullptr, nullptr, x.planes};
  side == Side::left ? work(x, nothing) : work(nothing, x);
}

// Residues of one operand and one block of k, with scales that are there.
template <class T>
void decompose(Side side, const DeviceOperand<T>& x, const ConversionForm& form, bool strassen, cudaStream_t stream);

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
    vectors_[side_ == Side::left ? Side::right : Side::left] = {.statistics = fixed_.statistics,
                                                                .scales = fixed_.scales};
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
      multiply(true, {});
      return true;
    }
    if (also_prepared_ != nullptr) {
      multiply(false, {});
      return true;
    }
    RegularityQuestion words(stream_, fixed_.by_sqrt_rule);
    const Regularity regularity = words.regularity();
    check(cudaMemcpyAsync(regularity.state, fixed_.device_regularity, sizeof(RegularityState), cudaMemcpyDeviceToDevice,
                          stream_),
          "prepared operand");
    measure(regularity);
    const bool held = pass_.converted;  // then all follows at once, and does nothing if the product is irregular
    if (held) multiply(false, {regularity.is_irregular});
    const bool regular = words.wait();
    if (regular && !held) multiply(false, {});
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

  bool reads_prepared(std::int64_t block) const { return also_prepared_ != nullptr && block >= x_.vectors; }

  // What a block of so many vectors of the moving operand takes; also_prepared_'s planes serve one block of all.
  void carve(Arena& arena, std::int64_t block) {
    const bool left = side_ == Side::left;
    const ProductShape moving{left ? x_.vectors : 0, left ? 0 : x_.vectors, x_.k};
    if (also_prepared_ == nullptr)
      vectors_[side_] = carve_device_vectors(arena, moving, VectorUse::measured)[side_];
    else
      vectors_[side_] = {.statistics = also_prepared_->statistics, .scales = also_prepared_->scales};
    const DeviceBlocking blocking{.moduli = fixed_.form.moduli,
                                  .form = {.strassen = fixed_.strassen},
                                  .m_block = left ? block : problem_.a.vectors,
                                  .n_block = left ? problem_.b.vectors : block,
                                  .k_block = fixed_.k_block};
    pass_ = {.pass = {.blocking = blocking, .words = fixed_.form.words},
             .scales = {vectors_.a.scales, vectors_.b.scales}};
    Sides<bool> ready{!left, left};
    ready[side_] = reads_prepared(block);
    for (const Side side : both_sides) {
      const PreparedData<T>* from = side == side_ ? also_prepared_ : &fixed_;
      if (ready[side]) pass_.ready[side] = {from->planes(0), from->plane_bytes(from->copy.vectors)};
    }
    pass_.buffers = carve_device_pass(arena, blocking, limits_of(engine_), ready);
    pass_.converted = also_prepared_ == nullptr && !fixed_.strassen && block >= x_.vectors && x_.k <= fixed_.k_block;
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
    p.m_block = pass_.pass.blocking.m_block;
    p.n_block = pass_.pass.blocking.n_block;
    p.k_block = fixed_.k_block;
    p.workspace = bytes_;
    report.prepared_a = side_ == Side::right || reads_prepared(block_);
    report.prepared_b = side_ == Side::left || reads_prepared(block_);
  }

  ResidueChain<T> chain() const { return {engine_, problem_, {.vectors = vectors_}, stream_}; }

  // Statistics and scales of the moving operand; its residues with them, where these are all of one kind and one block.
  void measure(const Regularity& regularity) {
    const DeviceOperand<T> moving{
        x_, vectors_[side_].statistics, vectors_[side_].scales,
        pass_.converted ? (side_ == Side::left ? pass_.buffers.a : pass_.buffers.b) : nullptr};
    with_operand<T>(side_, moving, [&](const auto& a, const auto& b) {
      measure_on_device<T>(a, b, fixed_.rule, fixed_.form, regularity, stream_);
    });
  }

  void multiply(bool specials, const Gate& gate) {
    pass_.specials = specials;
    pass_.products = pass_.recombination = gate;
    chain().run(pass_);
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
  Sides<DeviceVectors> vectors_;
  ChainPass pass_;
};

}  // namespace vernier::cuda
