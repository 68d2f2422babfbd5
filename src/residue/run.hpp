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

  // Statistics and ordinary scales; if `whole`, everything else follows, unless regularity holds it. for_bound: bytes
  // of the operands for the product of |A| and |B|, too; not if `whole`.
  void start(const Regularity& regularity, bool specials, bool whole, bool for_bound = false) {
    const GatedPass gated = ordinary(specials, {regularity.is_irregular});
    const DevicePassBuffers buffers = carve(gated.pass);
    DeviceOperand<T> a{problem_.a, vectors_.a_statistics, vectors_.a_scales, whole ? buffers.a : nullptr},
        b{problem_.b, vectors_.b_statistics, vectors_.b_scales, whole ? buffers.b : nullptr};
    if (for_bound) bound().write_bytes_with(a, b);
    ConversionForm measured = form(gated.pass);
    measured.deep = !plan_.bound;  // the product of |A| and |B| costs no more than a look at deeper thresholds
    measure_on_device<T>(a, b, plan_.rule, measured, regularity, stream_);
    if (!whole) return;
    const Range rows{0, plan_.shape.m}, columns{0, plan_.shape.n};
    multiply(gated, buffers, rows, columns, plan_.shape.k, false);
    recombine(gated, buffers, rows, columns);
  }

  // All of C with the scales that start() left, for regular products that are not done at once.
  void run_blocks(bool specials, const Gate& gate = {}) { run_pass(ordinary(specials, gate)); }

  // Statistics and all that any data may need after them, one behind the other; the device opens the gates of what
  // these data need. outcome: null, or where the route is left.
  void run_without_host(Outcome* outcome) {
    check(cudaMemsetAsync(vectors_.regularity, 0, sizeof(RegularityState), stream_), "regularity");
    const bool whole = at_once(plan_);
    start({.state = vectors_.regularity, .is_irregular = irregular()}, false, whole);
    if (!whole) run_blocks(false, {irregular()});
    follow(plan_device_route(plan_));
    static_assert(sizeof(DeviceRoute) <= sizeof(Outcome));
    if (outcome != nullptr)
      check(cudaMemcpyAsync(outcome, vectors_.route, sizeof(DeviceRoute), cudaMemcpyDefault, stream_), "outcome");
  }

  // Of irregular products: the device chooses, and the host waits for what it needs to know of that.
  Scaling scale(Report& report) {
    DeviceRoutePlan nothing_queued;
    nothing_queued.spans = true;
    choose_scales(nothing_queued);
    const DeviceRoute route = on_host(vectors_.route, 1, stream_)[0];
    report.span_a = route.span[0];
    report.span_b = route.span[1];
    report.nonfinite_rows = route.nonfinite[0];
    report.nonfinite_columns = route.nonfinite[1];
    return {.any_ordinary = route.any_ordinary != 0,
            .any_wide = route.any_wide != 0,
            .wide_rows = route.wide_vectors[0],
            .wide_columns = route.wide_vectors[1],
            .wide_log2 = route.wide_log2,
            .wide_exponent = route.wide_exponent};
  }

  // Scales of irregular products from the product of |A| and |B|: in a_scales and b_scales.
  DeviceBoundRun<T> bound() const { return {plan_, problem_.a, problem_.b, vectors_, stream_, arena_}; }

  // All of C with the scales of bound().
  void run_bound(const DevicePass& pass, bool specials) {
    run_pass({.pass = pass, .specials = specials, .a_scales = vectors_.a_scales, .b_scales = vectors_.b_scales});
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
  Spans measure_spans(const Gate& gate) {
    const ProductShape& s = plan_.shape;
    const std::int64_t blocks = span_blocks(s.k);
    Spans spans;
    const auto carve_spans = [&](Arena& arena) {
      for (auto [x, vectors] : {std::pair{&spans.a, s.m}, std::pair{&spans.b, s.n}}) {
        x->stride = span_stride(vectors);
        const auto stride = static_cast<std::size_t>(x->stride);
        x->deficits = arena.take<std::uint8_t>(static_cast<std::size_t>(blocks) * stride);
        x->norm_bits = arena.take<std::uint8_t>(stride);
        x->costs = arena.take<unsigned>(stride);
      }
    };
    Arena count;
    carve_spans(count);
    Arena arena = arena_;
    if (count.used() > plan_.pass_bytes) {
      spans.extra = std::make_unique<DeviceWorkspace>(count.used(), stream_);
      arena = spans.extra->arena();
    }
    carve_spans(arena);
    block_deficits_on_device(problem_.a, vectors_.a_statistics, spans.a, stream_, gate);
    block_deficits_on_device(problem_.b, vectors_.b_statistics, spans.b, stream_, gate);
    span_costs_on_device(spans.a, spans.b, blocks, stream_, gate);
    return spans;
  }

  // Scales of irregular products, and which entries are wide.
  void choose_scales(const DeviceRoutePlan& plan) {
    const bool spans = plan.spans && plan_.shape.k <= longest_spanned_k;
    choose_route(plan, spans, nullptr, nullptr);
    if (!spans) return;
    const Spans measured = measure_spans({&vectors_.route->spanned, 1});
    choose_route(plan, false, measured.a.costs, measured.b.costs);
  }

  // Irregular products, as the device chooses.
  void follow(const DeviceRoutePlan& plan) {
    DeviceRoute* route = vectors_.route;
    choose_scales(plan);
    const Gate ordinary{&route->ordinary, plan.ordinary.blocking.moduli};
    GatedPass gated{.pass = plan.ordinary,
                    .specials = true,
                    .a_scales = vectors_.a_scales,
                    .b_scales = vectors_.b_scales,
                    .conversion = ordinary,
                    .products = ordinary,
                    .recombination = {&route->mixed, 1}};
    if (plan.classes.count == 0) {  // then they are uniform, or not for residues
      gated.pass.every_entry = true;
      gated.specials = false;
      gated.recombination = {&route->uniform, 1};
    }
    run_pass(gated, plan.classes.count == 0 ? Gate{} : Gate{&route->uniform, 1});
    for (int c = 0; c < plan.classes.count; ++c) {
      gated.pass = plan.wide[c];
      gated.a_scales = vectors_.a_wide_scales;
      gated.b_scales = vectors_.b_wide_scales;
      gated.products = gated.recombination = {&route->wide, plan.classes.moduli[c]};
      gated.conversion = {&route->conversion};
      run_pass(gated);
    }
    if (plan.native)
      multiply_conventionally<T>({.rows = conventional(problem_.a),
                                  .columns = conventional(problem_.b),
                                  .k = plan_.shape.k,
                                  .alpha = problem_.alpha.value,
                                  .beta = problem_.beta.value,
                                  .alpha_at = problem_.alpha.in_device_memory,
                                  .beta_at = problem_.beta.in_device_memory,
                                  .c = problem_.c,
                                  .ldc = problem_.ldc,
                                  .gate = {&route->native, 1}},
                                 stream_);
  }

  static ConventionalVectors<T> conventional(const Operand<T>& x) {
    return {x.data, x.vectors, x.vector_stride(), x.k_stride()};
  }

  void choose_route(const DeviceRoutePlan& plan, bool spans_follow, const unsigned* a_costs, const unsigned* b_costs) {
    choose_route_on_device({.chooser = ScaleChooser(plan_.contract_rule, plan_.shape.k),
                            .k = plan_.shape.k,
                            .operand = {{.statistics = vectors_.a_statistics,
                                         .costs = a_costs,
                                         .vectors = plan_.shape.m,
                                         .kinds = vectors_.a_proofs,
                                         .ordinary = vectors_.a_scales,
                                         .wide = vectors_.a_wide_scales,
                                         .groups = vectors_.a_group_proofs},
                                        {.statistics = vectors_.b_statistics,
                                         .costs = b_costs,
                                         .vectors = plan_.shape.n,
                                         .kinds = vectors_.b_proofs,
                                         .ordinary = vectors_.b_scales,
                                         .wide = vectors_.b_wide_scales,
                                         .groups = vectors_.b_group_proofs}},
                            .route = vectors_.route,
                            .ordinary_moduli = plan.ordinary.blocking.moduli,
                            .classes = plan.classes,
                            .spans_follow = spans_follow,
                            .native = plan.native,
                            .clusters = clusters()},
                           stream_);
  }

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
    for (const int words : {few_route_words, many_route_words}) {
      wide.words = words;
      decompose_on_device(a, b, wide, stream_, {gated.conversion.word, conversion_of(wide.moduli, words)});
    }
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
