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
#include "scheme/device_convert.hpp"
#include "scheme/device_quarters.hpp"
#include "scheme/device_spans.hpp"
#include "scheme/residues.hpp"

namespace vernier::cuda {
namespace {

// May be empty, or less.
Range half_of(Range all, int which) {
  const std::int64_t half = half_vectors(all.count);
  return which == 0 ? Range{all.begin, std::min(half, all.count)} : Range{all.begin + half, all.count - half};
}

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
    const DevicePass pass = ordinary_device_pass(plan_);
    const DevicePassBuffers buffers = carve(pass);
    measure_on_device<T>({problem_.a, vectors_.a_statistics, vectors_.a_scales, whole ? buffers.a : nullptr},
                         {problem_.b, vectors_.b_statistics, vectors_.b_scales, whole ? buffers.b : nullptr},
                         plan_.rule, form(pass), regularity, stream_);
    if (!whole) return;
    const Range rows{0, plan_.shape.m}, columns{0, plan_.shape.n};
    multiply(pass, buffers, rows, columns, plan_.shape.k, false, regularity.hold);
    recombine(pass, buffers, rows, columns, specials, regularity.hold);
  }

  // All of C with the scales that start() left, for regular products that are not done at once.
  void run_blocks(bool specials) { run_pass(ordinary_device_pass(plan_), specials); }

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
      run_pass(passes.pass[i], specials);
    }
  }

 private:
  DevicePassBuffers carve(const DevicePass& pass) const {
    Arena arena = arena_;
    return carve_device_pass(arena, pass.blocking, plan_.limits);
  }

  ConversionForm form(const DevicePass& pass) const { return {pass.blocking.moduli, pass.words, engine_.form()}; }

  static void summarise(const std::vector<VectorStatistics>& statistics, int& span, std::int64_t& nonfinite) {
    for (const VectorStatistics& v : statistics) {
      span = std::max(span, v.span());
      nonfinite += v.nonfinite ? 1 : 0;
    }
  }

  Scaling scale_by_spans() {
    const ProductShape& s = plan_.shape;
    const std::int64_t blocks = span_blocks(s.k);
    const auto carve_spans = [&](Arena& arena) {
      std::pair<DeviceSpans, DeviceSpans> spans;
      for (auto [x, vectors] : {std::pair{&spans.first, s.m}, std::pair{&spans.second, s.n}}) {
        x->stride = span_stride(vectors);
        const auto stride = static_cast<std::size_t>(x->stride);
        x->deficits = arena.take<std::uint8_t>(static_cast<std::size_t>(blocks) * stride);
        x->norm_bits = arena.take<std::uint8_t>(stride);
        x->costs = arena.take<unsigned>(stride);
      }
      return spans;
    };
    Arena count;
    carve_spans(count);
    // The planes are not needed now; only a small workspace has no room for the spans.
    std::unique_ptr<DeviceWorkspace> extra;
    Arena arena = arena_;
    if (count.used() > plan_.pass_bytes) {
      extra = std::make_unique<DeviceWorkspace>(count.used(), stream_);
      arena = Arena(align_to_page(extra->data()), count.used());
    }
    const auto [a, b] = carve_spans(arena);
    block_deficits_on_device(problem_.a, vectors_.a_statistics, a, stream_);
    block_deficits_on_device(problem_.b, vectors_.b_statistics, b, stream_);
    span_costs_on_device(a, b, blocks, stream_);
    const auto costs = [&](const DeviceSpans& x, std::int64_t vectors) {
      const std::vector<unsigned> wide = on_host(x.costs, vectors, stream_);
      return std::vector<std::uint8_t>(wide.begin(), wide.end());
    };
    return choose_scales(plan_.rule, s.k, a_statistics_, b_statistics_, a_kinds_, b_kinds_, costs(a, s.m),
                         costs(b, s.n));
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

  void run_pass(const DevicePass& pass, bool specials) {
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
          const DeviceOperand<T> a{part_of(problem_.a, used_rows, ks), nullptr, vectors_.a_scales + i, buffers.a},
              b{part_of(problem_.b, columns, ks), nullptr, vectors_.b_scales + j, buffers.b};
          if (blocks.form.strassen)
            decompose_quarters_on_device(a, b, form(pass), stream_);
          else
            decompose_on_device(a, b, form(pass), stream_);
          multiply(pass, buffers, rows, columns, ks.count, l > 0, nullptr);
        }
        if (blocks.form.strassen)
          recombine_quarters(pass, buffers, rows, columns, specials);
        else
          recombine(pass, buffers, rows, columns, specials, nullptr);
      }
    }
  }

  void recombine_quarters(const DevicePass& pass, const DevicePassBuffers& buffers, Range rows, Range columns,
                          bool specials) const {
    const ProductUnits units = product_units(half_vectors(rows.count), half_vectors(columns.count));
    if constexpr (std::is_same_v<T, double>)
      if (recombine_quarters_on_device(recombination(pass, buffers, rows, columns, specials, nullptr, units), stream_))
        return;
    // The products become quarters of C, which are recombined one by one.
    combine_quarters_on_device(buffers.c, pass.blocking.moduli, units.plane_bytes(), stream_);
    for (int quarter = 0; quarter < quarters; ++quarter) {
      const Range r = half_of(rows, quarter / 2), c = half_of(columns, quarter % 2);
      if (r.count <= 0 || c.count <= 0) continue;
      DevicePassBuffers part = buffers;
      part.c += quarter * units.plane_bytes();
      recombine(pass, part, r, c, specials, nullptr, units);
    }
  }

  void multiply(const DevicePass& pass, const DevicePassBuffers& buffers, Range rows, Range columns, std::int64_t k,
                bool accumulate, const int* hold) const {
    const bool strassen = pass.blocking.form.strassen;
    engine_.multiply({.rows = buffers.a,
                      .columns = buffers.b,
                      .m = plane_vectors(rows.count, strassen),
                      .n = plane_vectors(columns.count, strassen),
                      .pitch = plane_pitch(k, strassen),
                      .moduli = pass.blocking.moduli,
                      .products = strassen ? winograd_products : 1,
                      .factor = residue_system(pass.blocking.moduli).row_factor,
                      .accumulate = accumulate,
                      .out = buffers.c,
                      .hold = hold,
                      .scratch = buffers.sums},
                     stream_);
  }

  void recombine(const DevicePass& pass, const DevicePassBuffers& buffers, Range rows, Range columns, bool specials,
                 const int* hold, const ProductUnits& units = {}) const {
    recombine_on_device(recombination(pass, buffers, rows, columns, specials, hold, units), stream_);
  }

  // units: of planes that hold the products of Strassen-Winograd.
  DeviceRecombination<T> recombination(const DevicePass& pass, const DevicePassBuffers& buffers, Range rows,
                                       Range columns, bool specials, const int* hold, const ProductUnits& units) const {
    const Range all{0, plan_.shape.k};
    return {.moduli = pass.blocking.moduli,
            .residues = buffers.c,
            .units = units,
            .plane_stride = winograd_products * units.plane_bytes(),
            .m = rows.count,
            .n = columns.count,
            .row_scales = vectors_.a_scales + rows.begin,
            .column_scales = vectors_.b_scales + columns.begin,
            .alpha = problem_.alpha,
            .beta = problem_.beta,
            .c = problem_.c + rows.begin + columns.begin * problem_.ldc,
            .ldc = problem_.ldc,
            .hold = hold,
            .specials = specials,
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

void check_capture(const Contract& contract, cudaStream_t stream) {
  if (contract.kind != Contract::Kind::normwise && capturing(stream))
    fail(Status::unsupported,
         "gemm: contract {} by residues cannot be captured in a graph, since it depends on the data how many moduli "
         "they take; expected fp64-normwise, or for float under fp32 a shape and workspace for which explain() says "
         "split",
         contract.text());
}

template <class T>
bool residue_gemm(const DeviceProductPlan& plan, const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem,
                  const Options& options, Report& report) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const bool captured = capturing(stream);
  check_capture(options.contract, stream);
  const std::size_t bytes = plan.vector_bytes + plan.pass_bytes;
  const std::unique_ptr<DeviceWorkspace> workspace = options.workspace != nullptr
                                                         ? std::make_unique<DeviceWorkspace>(options.workspace, bytes)
                                                         : std::make_unique<DeviceWorkspace>(bytes, stream);
  std::byte* begin = align_to_page(workspace->data());
  const std::size_t room = bytes - static_cast<std::size_t>(begin - workspace->data());
  DeviceRun<T> run(plan, engine, problem, stream, Arena(begin, room));
  const bool at_once = DeviceRun<T>::at_once(plan);
  if (captured) {
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
