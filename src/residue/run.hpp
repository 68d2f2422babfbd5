// One product by residues on a workspace and a stream: what is queued, in which order, behind which gates.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "cuda/status.hpp"
#include "product/device_memory.hpp"
#include "product/native/conventional.hpp"
#include "product/operand_blocks.hpp"
#include "residue/bound/bound_run.hpp"
#include "residue/convert/convert.hpp"
#include "residue/convert/winograd_cuda.hpp"
#include "residue/gemm_cuda.hpp"
#include "residue/residues.hpp"
#include "residue/scale/block_spans_cuda.hpp"
#include "residue/scale/route_choice.hpp"

namespace vernier::cuda {

// A pass with the scales that it takes and the gates that it stands behind.
struct GatedPass {
  DevicePass pass;
  bool specials = false;  // NaN and infinities may be about
  int *a_scales = nullptr, *b_scales = nullptr;
  Gate conversion = {}, products = {}, recombination = {};
};

// What the first kernel writes beside statistics and scales.
enum class FirstKernel {
  statistics,  // nothing
  whole,       // residues of a regular product, whose products follow
  bytes,       // operands of the product of |A| and |B|
  guess        // both: residues that such a product may find to serve
};

// One product on one workspace and one stream.
template <class T>
class DeviceRun {
 public:
  DeviceRun(const DeviceProductPlan& plan, const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem,
            cudaStream_t stream, Arena arena)
      : plan_(plan),
        engine_(engine),
        problem_(problem),
        stream_(stream),
        arena_(arena),
        vectors_(carve_device_vectors(arena_, plan.shape)) {}

  // Everything follows the statistics in one chain.
  static bool at_once(const DeviceProductPlan& plan) {
    return plan.ordinary.whole(plan.shape) && !plan.ordinary.form.strassen;
  }

  // Statistics and ordinary scales, and what follows from them.
  void start(const Regularity& regularity, bool specials, FirstKernel first, unsigned* verdict = nullptr) {
    if (first == FirstKernel::guess) return start_by_guess(regularity, verdict);
    const GatedPass gated = ordinary(specials, {regularity.is_irregular});
    const DevicePassBuffers buffers = carve(gated.pass);
    const bool whole = first == FirstKernel::whole;
    DeviceOperand<T> a{problem_.a, vectors_.a_statistics, vectors_.a_scales, whole ? buffers.a : nullptr},
        b{problem_.b, vectors_.b_statistics, vectors_.b_scales, whole ? buffers.b : nullptr};
    if (first == FirstKernel::bytes) bound(first).write_bytes_with(a, b);
    ConversionForm measured = form(gated.pass);
    measured.deep = !plan_.bound;  // the product of |A| and |B| costs no more than a look at deeper thresholds
    measure_on_device<T>(a, b, plan_.rule, measured, regularity, stream_);
    if (whole) finish(gated, buffers);
    if (first != FirstKernel::bytes) return;
    bound(first).measure(true, {regularity.is_irregular, 1});
    bound(first).choose({regularity.is_irregular, 1});
  }

  // All of C with the scales that start() left, for regular products that are not done at once.
  void run_blocks(bool specials, const Gate& gate = {}) { run_pass(ordinary(specials, gate)); }

  // Statistics and all that any data may need after them, one behind the other; the device opens the gates of what
  // these data need. outcome: null, or where the route is left.
  void run_without_host(Outcome* outcome);

  // Of irregular products: the device chooses, and the host waits for what it needs to know of that.
  Scaling scale(Report& report);

  // Scales of irregular products from the product of |A| and |B|. first: whether guessed planes lie beside it.
  DeviceBoundRun<T> bound(FirstKernel first) const {
    Arena arena = arena_;
    if (first == FirstKernel::guess) carve_device_pass(arena, guessed_device_pass(plan_).blocking, plan_.limits);
    return {plan_, problem_.a, problem_.b, vectors_, stream_, arena};
  }

  // All of C with the scales of bound().
  void run_bound(const DevicePass& pass, bool specials) {
    run_pass(
        {.pass = pass, .specials = specials, .a_scales = vectors_.a_wide_scales, .b_scales = vectors_.b_wide_scales});
  }

  void run(const DevicePassList& passes, bool specials) {
    for (int i = 0; i < passes.count; ++i) {
      const bool ordinary = passes.pass[i].ordinary;
      run_pass({passes.pass[i], specials, ordinary ? vectors_.a_scales : vectors_.a_wide_scales,
                ordinary ? vectors_.b_scales : vectors_.b_wide_scales});
    }
  }

  // Where the kernel that measures leaves whether the product is regular.
  int* irregular() const { return &vectors_.route->irregular; }

 private:
  // Residues by the contract's own rule, beside the bytes of the product of |A| and |B|; all that follows opens if that
  // product finds their scales fine enough, or if the product is regular.
  void start_by_guess(Regularity regularity, unsigned* verdict) {
    const DeviceBoundRun<T> bounds = bound(FirstKernel::guess);
    GatedPass gated{.pass = guessed_device_pass(plan_), .a_scales = vectors_.a_scales, .b_scales = vectors_.b_scales};
    gated.products = gated.recombination = bounds.guess_gate();
    const DevicePassBuffers buffers = carve(gated.pass);
    DeviceOperand<T> a{problem_.a, vectors_.a_statistics, vectors_.a_scales, buffers.a},
        b{problem_.b, vectors_.b_statistics, vectors_.b_scales, buffers.b};
    bounds.write_bytes_with(a, b);
    bounds.clear();
    ConversionForm measured = form(gated.pass);
    measured.deep = false;
    regularity.by_own_rule = true;
    regularity.rule = plan_.rule;
    measure_on_device<T>(a, b, plan_.contract_rule, measured, regularity, stream_);
    bounds.measure(true, {regularity.is_irregular, 1}, verdict);
    finish(gated, buffers);
  }

  void finish(const GatedPass& gated, const DevicePassBuffers& buffers) {
    const Range rows{0, plan_.shape.m}, columns{0, plan_.shape.n};
    multiply(gated, buffers, rows, columns, plan_.shape.k, false);
    recombine(gated, buffers, rows, columns);
  }

  DevicePassBuffers carve(const DevicePass& pass) const {
    Arena arena = arena_;
    return carve_device_pass(arena, pass.blocking, plan_.limits);
  }

  GatedPass ordinary(bool specials, const Gate& gate) const {
    return {.pass = ordinary_device_pass(plan_),
            .specials = specials,
            .a_scales = vectors_.a_scales,
            .b_scales = vectors_.b_scales,
            .products = gate,
            .recombination = gate};
  }

  ConversionForm form(const DevicePass& pass) const {
    return {pass.blocking.moduli, pass.words, engine_.form(), ModuliList::densest, clusters()};
  }
  bool clusters() const { return engine_.takes_clusters(); }

  struct Spans {
    std::unique_ptr<DeviceWorkspace> extra;  // only a small workspace has no room for them in that of the planes
    DeviceSpans a, b;
  };

  // The planes' memory is not needed meanwhile.
  Spans measure_spans(const Gate& gate);

  // Scales of irregular products, and which entries are wide.
  void choose_scales(const DeviceRoutePlan& plan);

  // Irregular products, as the device chooses.
  void follow(const DeviceRoutePlan& plan);

  // The same by scales from the product of |A| and |B|.
  void follow_by_bound(const DeviceRoutePlan& plan);

  void multiply_natively(const Gate& gate);

  static ConventionalVectors<T> conventional(const Operand<T>& x) {
    return {x.data, x.vectors, x.vector_stride(), x.k_stride()};
  }

  void choose_route(const DeviceRoutePlan& plan, bool spans_follow, const unsigned* a_costs, const unsigned* b_costs);

  // uniform: null, or the gate of a faster recombination for products of which every entry is finite and ordinary.
  void run_pass(const GatedPass& gated, const Gate& uniform = {}) {
    const DevicePass& pass = gated.pass;
    const DevicePassBuffers buffers = carve(pass);
    const ProductShape& s = plan_.shape;
    const DeviceBlocking& blocks = pass.blocking;
    const bool keep_a = s.k <= blocks.k_block;  // the planes of A then serve all blocks of columns
    for (std::int64_t i = 0; i < s.m; i += blocks.m_block) {
      const Range rows{i, std::min(blocks.m_block, s.m - i)};
      for (std::int64_t j = 0; j < s.n; j += blocks.n_block) {
        const Range columns{j, std::min(blocks.n_block, s.n - j)};
        for (std::int64_t l = 0; l < s.k; l += blocks.k_block) {
          const Range ks{l, std::min(blocks.k_block, s.k - l)};
          const Range used_rows{rows.begin, keep_a && j > 0 ? 0 : rows.count};
          decompose(gated, {part_of(problem_.a, used_rows, ks), nullptr, gated.a_scales + i, buffers.a},
                    {part_of(problem_.b, columns, ks), nullptr, gated.b_scales + j, buffers.b});
          multiply(gated, buffers, rows, columns, ks.count, l > 0);
        }
        if (blocks.form.strassen) {
          recombine_winograd(gated, buffers, rows, columns);
          continue;
        }
        recombine(gated, buffers, rows, columns);
        if (uniform.word == nullptr) continue;
        GatedPass all = gated;
        all.pass.every_entry = true;
        all.specials = false;
        all.recombination = uniform;
        recombine(all, buffers, rows, columns);
      }
    }
  }

  void decompose(const GatedPass& gated, const DeviceOperand<T>& a, const DeviceOperand<T>& b) {
    const DevicePass& pass = gated.pass;
    if (pass.blocking.form.strassen) return decompose_winograd_on_device(a, b, form(pass), stream_);
    if (gated.conversion.word != &vectors_.route->conversion)
      return decompose_on_device(a, b, form(pass), stream_, gated.conversion);
    ConversionForm wide = form(pass);  // the device chooses the words, too
    const auto convert = [&](int words) {
      wide.words = words;
      decompose_on_device(a, b, wide, stream_, {gated.conversion.word, conversion_of(wide.moduli, words)});
    };
    if (!pass.every_entry) return convert(few_route_words), convert(many_route_words);
    for (const int words : bound_route_words)
      if (words < many_route_words || wide.moduli >= least_moduli_of_many_words) convert(words);
  }

  void recombine_winograd(const GatedPass& gated, const DevicePassBuffers& buffers, Range rows, Range columns) const {
    const ProductUnits units = product_units(half_vectors(rows.count), half_vectors(columns.count));
    if constexpr (std::is_same_v<T, double>)
      if (recombine_winograd_on_device(recombination(gated, buffers, rows, columns, units), stream_)) return;
    // The products become quarters of C, which are recombined one by one.
    combine_winograd_on_device(buffers.c, gated.pass.blocking.moduli, units.plane_bytes(), stream_);
    for (int quarter = 0; quarter < quarters; ++quarter) {
      const Range r = half_of(rows, quarter / 2), c = half_of(columns, quarter % 2);
      if (r.count <= 0 || c.count <= 0) continue;
      DevicePassBuffers part = buffers;
      part.c += quarter * units.plane_bytes();
      recombine(gated, part, r, c, units);
    }
  }

  void multiply(const GatedPass& gated, const DevicePassBuffers& buffers, Range rows, Range columns, std::int64_t k,
                bool accumulate) const {
    const DeviceBlocking& blocking = gated.pass.blocking;
    const bool strassen = blocking.form.strassen;
    engine_.multiply({.rows = buffers.a,
                      .columns = buffers.b,
                      .m = plane_vectors(rows.count, strassen),
                      .n = plane_vectors(columns.count, strassen),
                      .pitch = plane_pitch(k, strassen),
                      .moduli = blocking.moduli,
                      .products = strassen ? winograd_products : 1,
                      .factor = residue_system(blocking.moduli).row_factor,
                      .accumulate = accumulate,
                      .out = buffers.c,
                      .gate = gated.products,
                      .wanted = wanted(gated.pass, rows, columns),
                      .scratch = buffers.sums,
                      .steps = buffers.steps},
                     stream_);
  }

  // The entries that the recombination will write. With Strassen-Winograd a row of a plane stands for two of C.
  EntryFilter wanted(const DevicePass& pass, Range rows, Range columns) const {
    constexpr std::int64_t group = EntryFilter::group;
    if (pass.every_entry || pass.blocking.form.strassen || rows.begin % group != 0 || columns.begin % group != 0)
      return {};
    return {vectors_.a_group_proofs + rows.begin / group, vectors_.b_group_proofs + columns.begin / group,
            pass.ordinary};
  }

  void recombine(const GatedPass& gated, const DevicePassBuffers& buffers, Range rows, Range columns,
                 const ProductUnits& units = {}) const {
    recombine_on_device(recombination(gated, buffers, rows, columns, units), stream_);
  }

  // units: of planes that hold the products of Strassen-Winograd.
  DeviceRecombination<T> recombination(const GatedPass& gated, const DevicePassBuffers& buffers, Range rows,
                                       Range columns, const ProductUnits& units) const {
    const Range all{0, plan_.shape.k};
    const DevicePass& pass = gated.pass;
    return {.moduli = pass.blocking.moduli,
            .residues = buffers.c,
            .units = units,
            .plane_stride = winograd_products * units.plane_bytes(),
            .m = rows.count,
            .n = columns.count,
            .row_scales = gated.a_scales + rows.begin,
            .column_scales = gated.b_scales + columns.begin,
            .alpha = problem_.alpha,
            .beta = problem_.beta,
            .c = problem_.c + rows.begin + columns.begin * problem_.ldc,
            .ldc = problem_.ldc,
            .gate = gated.recombination,
            .seldom = gated.conversion.word != nullptr,
            .specials = gated.specials,
            .a = part_of(problem_.a, rows, all),
            .b = part_of(problem_.b, columns, all),
            .row_statistics = vectors_.a_statistics + rows.begin,
            .column_statistics = vectors_.b_statistics + columns.begin,
            .row_proofs = pass.every_entry ? nullptr : vectors_.a_proofs + rows.begin,
            .column_proofs = pass.every_entry ? nullptr : vectors_.b_proofs + columns.begin,
            .ordinary = pass.ordinary};
  }

  const DeviceProductPlan& plan_;
  const DeviceInt8Engine& engine_;
  const DeviceResidueProblem<T>& problem_;
  cudaStream_t stream_;
  Arena arena_;  // of the passes, behind the vectors' data
  DeviceVectorBuffers vectors_;
};

}  // namespace vernier::cuda

#include "residue/run_route.hpp"
