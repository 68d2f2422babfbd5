#include "blas/residue_gemm_cuda.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/status.hpp"
#include "blas/device_blocks.hpp"
#include "blas/device_state.hpp"
#include "cuda/device.hpp"
#include "cuda/status.hpp"
#include "engine/sm90_conventional.hpp"
#include "scheme/device_convert.hpp"
#include "scheme/device_quarters.hpp"
#include "scheme/device_route.hpp"
#include "scheme/device_spans.hpp"
#include "scheme/residues.hpp"

namespace vernier::cuda {
namespace {

// May be empty, or less.
Range half_of(Range all, int which) {
  const std::int64_t half = half_vectors(all.count);
  return which == 0 ? Range{all.begin, std::min(half, all.count)} : Range{all.begin + half, all.count - half};
}

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

  // Statistics and ordinary scales; if `whole`, everything else follows, unless regularity holds it.
  void start(const Regularity& regularity, bool specials, bool whole) {
    const GatedPass gated = ordinary(specials, {regularity.hold});
    const DevicePassBuffers buffers = carve(gated.pass);
    measure_on_device<T>({problem_.a, vectors_.a_statistics, vectors_.a_scales, whole ? buffers.a : nullptr},
                         {problem_.b, vectors_.b_statistics, vectors_.b_scales, whole ? buffers.b : nullptr},
                         plan_.rule, form(gated.pass), regularity, stream_);
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
    start({.state = vectors_.regularity, .hold = &vectors_.route->irregular}, false, whole);
    if (!whole) run_blocks(false, {&vectors_.route->irregular});
    follow(plan_device_route(plan_));
    static_assert(sizeof(DeviceRoute) <= sizeof(Outcome));
    if (outcome != nullptr)
      check(cudaMemcpyAsync(outcome, vectors_.route, sizeof(DeviceRoute), cudaMemcpyDefault, stream_), "outcome");
  }

  // Irregular products: the scales are chosen on the host, as on a CPU.
  Scaling scale(Report& report) {
    const ProductShape& s = plan_.shape;
    a_statistics_ = on_host(vectors_.a_statistics, s.m, stream_);
    b_statistics_ = on_host(vectors_.b_statistics, s.n, stream_);
    summarise(a_statistics_, report.span_a, report.nonfinite_rows);
    summarise(b_statistics_, report.span_b, report.nonfinite_columns);
    a_kinds_.resize(a_statistics_.size());
    b_kinds_.resize(b_statistics_.size());
    Scaling scaling = choose_scales(plan_.rule, s.k, a_statistics_, b_statistics_, a_kinds_, b_kinds_);
    if (scaling.any_wide && s.k <= longest_spanned_k) scaling = scale_by_spans();
    return scaling;
  }

  void run(const DevicePassList& passes, bool specials) {
    to_device(vectors_.a_kinds, a_kinds_, stream_);
    to_device(vectors_.b_kinds, b_kinds_, stream_);
    for (int i = 0; i < passes.count; ++i) {
      set_scales(passes.pass[i].ordinary);
      run_pass({passes.pass[i], specials, vectors_.a_scales, vectors_.b_scales});
    }
  }

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

  ConversionForm form(const DevicePass& pass) const { return {pass.blocking.moduli, pass.words, engine_.form()}; }

  static void summarise(const std::vector<VectorStatistics>& statistics, int& span, std::int64_t& nonfinite) {
    for (const VectorStatistics& v : statistics) {
      span = std::max(span, v.span());
      nonfinite += v.nonfinite ? 1 : 0;
    }
  }

  struct Spans {
    std::unique_ptr<DeviceWorkspace> extra;  // only a small workspace has no room for them in that of the planes
    DeviceSpans a, b;
  };

  // The planes' memory is not needed meanwhile.
  Spans measure_spans(const Gate& gate = {}) {
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
      arena = Arena(align_to_page(spans.extra->data()), count.used());
    }
    carve_spans(arena);
    block_deficits_on_device(problem_.a, vectors_.a_statistics, spans.a, stream_, gate);
    block_deficits_on_device(problem_.b, vectors_.b_statistics, spans.b, stream_, gate);
    span_costs_on_device(spans.a, spans.b, blocks, stream_, gate);
    return spans;
  }

  Scaling scale_by_spans() {
    const ProductShape& s = plan_.shape;
    const Spans spans = measure_spans();
    const auto costs = [&](const DeviceSpans& x, std::int64_t vectors) {
      const std::vector<unsigned> wide = on_host(x.costs, vectors, stream_);
      return std::vector<std::uint8_t>(wide.begin(), wide.end());
    };
    return choose_scales(plan_.rule, s.k, a_statistics_, b_statistics_, a_kinds_, b_kinds_, costs(spans.a, s.m),
                         costs(spans.b, s.n));
  }

  // Irregular products, as the device chooses.
  void follow(const DeviceRoutePlan& plan) {
    DeviceRoute* route = vectors_.route;
    choose_route(plan, plan.spans, nullptr, nullptr);
    if (plan.spans) {
      const Spans spans = measure_spans({&route->spanned, 1});
      choose_route(plan, false, spans.a.costs, spans.b.costs);
    }
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
                                         .kinds = vectors_.a_kinds,
                                         .ordinary = vectors_.a_scales,
                                         .wide = vectors_.a_wide_scales},
                                        {.statistics = vectors_.b_statistics,
                                         .costs = b_costs,
                                         .vectors = plan_.shape.n,
                                         .kinds = vectors_.b_kinds,
                                         .ordinary = vectors_.b_scales,
                                         .wide = vectors_.b_wide_scales}},
                            .route = vectors_.route,
                            .ordinary_moduli = plan.ordinary.blocking.moduli,
                            .classes = plan.classes,
                            .spans_follow = spans_follow,
                            .native = plan.native},
                           stream_);
  }

  void set_scales(bool ordinary) {
    const auto write = [&](int* device, const std::vector<VectorScales>& kinds) {
      std::vector<int> scales(kinds.size());
      std::transform(kinds.begin(), kinds.end(), scales.begin(),
                     [&](const VectorScales& v) { return ordinary ? v.ordinary : v.wide; });
      to_device(device, scales, stream_);
    };
    write(vectors_.a_scales, a_kinds_);
    write(vectors_.b_scales, b_kinds_);
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
          recombine_quarters(gated, buffers, rows, columns);
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
    if (pass.blocking.form.strassen) return decompose_quarters_on_device(a, b, form(pass), stream_);
    if (gated.conversion.word != &vectors_.route->conversion)
      return decompose_on_device(a, b, form(pass), stream_, gated.conversion);
    ConversionForm wide = form(pass);  // the device chooses the words, too
    for (const int words : {few_route_words, many_route_words}) {
      wide.words = words;
      decompose_on_device(a, b, wide, stream_, {gated.conversion.word, conversion_of(wide.moduli, words)});
    }
  }

  void recombine_quarters(const GatedPass& gated, const DevicePassBuffers& buffers, Range rows, Range columns) const {
    const ProductUnits units = product_units(half_vectors(rows.count), half_vectors(columns.count));
    if constexpr (std::is_same_v<T, double>)
      if (recombine_quarters_on_device(recombination(gated, buffers, rows, columns, units), stream_)) return;
    // The products become quarters of C, which are recombined one by one.
    combine_quarters_on_device(buffers.c, gated.pass.blocking.moduli, units.plane_bytes(), stream_);
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
                      .scratch = buffers.sums},
                     stream_);
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
            .row_kinds = pass.every_entry ? nullptr : vectors_.a_kinds + rows.begin,
            .column_kinds = pass.every_entry ? nullptr : vectors_.b_kinds + columns.begin,
            .ordinary = pass.ordinary};
  }

  const DeviceProductPlan& plan_;
  const DeviceInt8Engine& engine_;
  const DeviceResidueProblem<T>& problem_;
  cudaStream_t stream_;
  Arena arena_;  // of the passes, behind the vectors' data
  DeviceVectorBuffers vectors_;
  std::vector<VectorStatistics> a_statistics_, b_statistics_;
  std::vector<VectorScales> a_kinds_, b_kinds_;
};

void fail_beyond_scheme(const Contract& contract, const Report& report) {
  fail(Status::bound_not_met,
       "the exponents of the data are too wide for contract {}: spans up to {} in a row of op(A) and {} in a column "
       "of op(B); expected what {} moduli hold",
       contract.text(), report.span_a, report.span_b, max_moduli);
}

}  // namespace

bool without_host(const Options& options) {
  return options.asynchronous || capturing(static_cast<cudaStream_t>(options.stream));
}

void check_without_host(const Options& options, bool single_precision) {
  if (!without_host(options) || options.contract.kind == Contract::Kind::normwise) return;
  if (!current_device().hopper() || options.engine == cublas_int8_engine().name())
    fail(Status::unsupported,
         "gemm: contract {} by residues of engine cublas_int8 cannot be captured in a graph or be had asynchronously, "
         "since it depends on the data how many moduli they take; expected fp64-normwise",
         options.contract.text());
  if (options.outcome == nullptr && !device_route_always_ends(options.contract, single_precision))
    fail(Status::unsupported,
         "gemm: contract {} cannot be captured in a graph or be had asynchronously without an outcome, since data may "
         "be "
         "too wide for it and nothing else tells; expected Options::outcome",
         options.contract.text());
}

template <class T>
bool residue_gemm(const DeviceProductPlan& plan, const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem,
                  const Options& options, Report& report) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  check_without_host(options, plan.single_precision);
  const std::size_t bytes = plan.vector_bytes + plan.pass_bytes;
  const std::unique_ptr<DeviceWorkspace> workspace = options.workspace != nullptr
                                                         ? std::make_unique<DeviceWorkspace>(options.workspace, bytes)
                                                         : std::make_unique<DeviceWorkspace>(bytes, stream);
  std::byte* begin = align_to_page(workspace->data());
  const std::size_t room = bytes - static_cast<std::size_t>(begin - workspace->data());
  DeviceRun<T> run(plan, engine, problem, stream, Arena(begin, room));
  const bool at_once = DeviceRun<T>::at_once(plan);
  if (without_host(options)) {
    if (options.contract.kind != Contract::Kind::normwise) {
      run.run_without_host(options.outcome);
      return true;
    }
    run.start({}, true, at_once);
    if (!at_once) run.run_blocks(true);
    return true;
  }
  bool regular = false, whole = at_once;
  {
    RegularityWords words(stream, plan.lean);
    whole = whole && words.was_regular();  // else the residues are often made in vain
    run.start(words.regularity(), false, whole);
    regular = words.wait();
  }
  if (regular) {
    if (!whole) run.run_blocks(false);
    return true;
  }
  if (plan.lean) return false;
  if (irregular_products_lose(plan)) {
    report.fallback = true;
    return false;
  }
  const Scaling scaling = run.scale(report);
  report.wide_rows = scaling.wide_rows;
  report.wide_columns = scaling.wide_columns;
  const DevicePassList passes = plan_device_passes(plan, scaling);
  if (passes.native) {
    const Contract& contract = options.contract;
    const bool may_fall_back =
        !contract.reproducible && contract.fallback == Fallback::native && plan.native_keeps_contract;
    if (passes.beyond_scheme && !may_fall_back) fail_beyond_scheme(contract, report);
    report.fallback = true;
    return false;
  }
  for (int i = 0; i < passes.count; ++i) {
    const DevicePass& pass = passes.pass[i];
    if (pass.ordinary || pass.every_entry) report.plan.moduli = pass.blocking.moduli;
    if (!pass.ordinary) report.wide_moduli = pass.blocking.moduli;
  }
  report.plan.log2_modulus_product = log2_product_of_moduli(report.plan.moduli);
  run.run(passes, report.nonfinite_rows + report.nonfinite_columns > 0);
  return true;
}

template bool residue_gemm(const DeviceProductPlan&, const DeviceInt8Engine&, const DeviceResidueProblem<double>&,
                           const Options&, Report&);
template bool residue_gemm(const DeviceProductPlan&, const DeviceInt8Engine&, const DeviceResidueProblem<float>&,
                           const Options&, Report&);

}  // namespace vernier::cuda
