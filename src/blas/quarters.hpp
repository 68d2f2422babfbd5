// Large products that fall back for their data, by quarters of C: where elements decay from a diagonal, no powers of
// two balance all of k for all of C (residue/bound/balance.hpp), but some do for the quarters beside the diagonal, and
// for quarters of those on it.
#pragma once

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "base/fmt.hpp"
#include "base/status.hpp"
#include "blas/choice.hpp"
#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "cuda/status.hpp"
#include "product/device_memory.hpp"
#include "product/native/conventional.hpp"
#include "product/native/enough_k.hpp"
#include "product/operand_blocks.hpp"
#include "residue/choice.hpp"
#include "residue/gemm_cuda.hpp"
#include "residue/plan/common_plan.hpp"
#include "residue/regularity.hpp"
#include "residue/symmetric.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

// May quarters be worth a trial where all of C falls back? Smaller ones than these are cuBLAS's. Where cuBLAS may not
// take over, a quarter could fail behind those that are written, after a product of a contract that differs in that.
template <class T>
bool has_quarters(const DeviceGemmCall<T>& call, const Options& options) {
  constexpr std::int64_t least = 8192, least_k = 2048;
  return std::is_same_v<T, double> && call.m >= least && call.n >= least && call.k >= least_k &&
         options.pointer_mode == PointerMode::host &&
         native_use<T>(options.contract, !options.engine.empty()) == NativeUse::for_speed;
}

// What may be enough of k for a quarter that cuBLAS takes for its data; none: nothing is to be left out.
inline Range find_enough_k(const Sides<Operand<double>>& x, const DeviceProductPlan& plan, bool waits,
                           cudaStream_t stream) {
  constexpr std::int64_t least = 4096, most = std::int64_t{1} << 20;
  if (x.a.k < least || x.a.k > most) return {};
  const Range known = known_k(plan, Past{stream, waits});
  if (!waits || known.count > 0 || !may_guess_k(stream, plan)) return known;
  const Range guessed = guess_enough_k(x, stream);
  if (8 * guessed.count <= 7 * x.a.k) return guessed;
  remember_k(stream, plan, {});
  return {};
}

// May op(B), which is taken for op(A) transposed, save cuBLAS a part of C? Smaller ones are too few of its blocks.
inline bool is_halved_natively(const DeviceProductPlan& plan) {
  constexpr std::int64_t least = 3072;
  return plan.symmetric && !plan.single_precision && plan.part == 0 && plan.shape.n >= least;
}

// By cuBLAS, columns of the lower triangle by panels, copied above it; all of C where a look at A and B says no. Where
// no host waits for that, what is above is multiplied then.
inline std::int64_t multiply_half_natively(const DeviceGemmCall<double>& call, const DeviceProductPlan& plan,
                                           const Options& options) {
  constexpr std::int64_t panel = 1024, unit = 128;
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const bool waits = !without_host(options);
  const DeviceResidueProblem<double> all = problem_of(call, PointerMode::host);
  const DeviceWorkspace memory(2 * Arena::alignment, stream, options.workspace);
  auto* const word = reinterpret_cast<int*>(Arena::first_page(memory.data()));
  check(cudaMemsetAsync(word, 0, sizeof *word, stream), "symmetry");
  const bool sure = same_place(all.a, all.b);
  if (!sure) compare_on_device(all.a, all.b, word, stream);
  if (!sure && waits && on_host(word, 1, stream)[0] != 0) {
    ProductMemory known = remembered(plan, Past{stream, true});
    known.symmetric = -1;
    remember(stream, plan, known);
    native_gemm(call, options);
    return 0;
  }
  const std::int64_t width = round_up(divide_up(call.n, call.n / panel), unit);
  for (std::int64_t j = 0; j < call.n; j += width) {
    const Range k{0, call.k}, above{0, j}, columns{j, std::min(width, call.n - j)};
    const Operand<double> rows = part_of(all.a, above, k), partners = part_of(all.b, columns, k);
    DeviceGemmCall<double> part = call;
    part.m -= j, part.n = columns.count;
    part.a = all.a.at(j, 0), part.b = partners.data, part.c = all.to.entry(j, j);
    native_gemm(part, options);
    if (!sure && !waits && j > 0)
      multiply_conventionally<double>({conventional(rows), conventional(partners), call.k, all.to.at(0, j), {word, 1}},
                                      stream);
  }
  mirror_on_device(call.n, call.c, call.ldc, {word, 0}, stream);
  return 0;
}

// By cuBLAS, half of C, or of a quarter as much of k as is enough, which it returns; 0: of all. Where no host waits,
// all of it follows if that was not.
inline std::int64_t multiply_part_natively(const DeviceGemmCall<double>& call, const DeviceProductPlan& plan,
                                           const Options& options) {
  if (plan.part == 0) return multiply_half_natively(call, plan, options);
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const bool waits = !without_host(options);
  const DeviceResidueProblem<double> all = problem_of(call, PointerMode::host);
  const Sides<Operand<double>> x{all.a, all.b};
  const bool may = options.workspace == nullptr && (waits || *call.beta == 0) &&
                   (options.workspace_limit == 0 || EnoughK::bytes_of(x) <= options.workspace_limit) &&
                   (!capturing(stream) || available_device_memory() > 4 * EnoughK::bytes_of(x));
  const Range kept = may ? find_enough_k(x, plan, waits, stream) : Range{};
  std::optional<EnoughK> enough;
  if (kept.count > 0) enough.emplace(x, kept, stream);
  const bool serves = enough && (!waits || enough->serves());
  if (enough && waits) remember_k(stream, plan, serves ? kept : Range{});
  if (!serves) {
    native_gemm(call, options);
    return 0;
  }
  DeviceGemmCall<double> part = call;
  part.k = kept.count;
  part.a = all.a.at(0, kept.begin), part.b = all.b.at(0, kept.begin);
  native_gemm(part, options);
  if (waits) return kept.count;
  if (options.outcome != nullptr)
    check(cudaMemcpyAsync(options.outcome, enough->lacks(), sizeof(int), cudaMemcpyDefault, stream), "outcome");
  multiply_conventionally<double>({.rows = conventional(x.a),
                                   .columns = conventional(x.b),
                                   .k = call.k,
                                   .to = all.to,
                                   .gate = {enough->lacks(), 1}},
                                  stream);
  return kept.count;
}

// Adds what is known of a quarter: the most moduli, the widest spans, all seconds. The plan is that of the first
// quarter by residues.
inline void add_quarter(Report& all, Report&& found, bool first) {
  const bool by_residues = found.plan.scheme != native_name;
  const int moduli = std::max(all.plan.moduli, found.plan.moduli);
  if (first || (by_residues && all.plan.scheme == native_name)) all.plan = std::move(found.plan);
  if (moduli > 0) set_moduli(all.plan, moduli);
  all.fallback = (first || all.fallback) && found.fallback;
  all.bounded = all.bounded || found.bounded;
  const auto widen = [](int& of_all, int of_part) { of_all = std::max(of_all, of_part); };
  widen(all.wide_moduli, found.wide_moduli);
  widen(all.span_a, found.span_a), widen(all.span_b, found.span_b);
  if (found.native_k > 0) all.native_k = all.native_k > 0 ? std::min(all.native_k, found.native_k) : found.native_k;
  all.seconds_statistics += found.seconds_statistics, all.seconds_residues += found.seconds_residues;
  all.seconds_products += found.seconds_products, all.seconds_recombine += found.seconds_recombine;
  all.seconds_bound += found.seconds_bound;
}

// The quarter of C that is below, right of, or both of the first: bits 1 and 0 of `quarter`.
template <class T>
DeviceGemmCall<T> quarter_of(const DeviceGemmCall<T>& call, int quarter) {
  constexpr std::int64_t unit = 256;  // of tiles
  const std::int64_t rows = divide_up(call.m, 2 * unit) * unit, columns = divide_up(call.n, 2 * unit) * unit;
  const std::int64_t i = quarter / 2 * rows, j = quarter % 2 * columns;
  DeviceGemmCall<T> part = call;
  part.m = i == 0 ? rows : call.m - rows;
  part.n = j == 0 ? columns : call.n - columns;
  part.a += call.opa == Op::none ? i : i * call.lda;
  part.b += call.opb == Op::none ? j * call.ldb : j;
  part.c += i + j * call.ldc;
  return part;
}

// The report of all from those of its quarters: multiply(part of the call, its number, its report) returns the share of
// the part that went by residues, as this does.
template <class T, class Multiply>
double for_quarters(const DeviceGemmCall<T>& call, int number, Report& report, Multiply multiply,
                    const char* queued = "") {
  double share = 0;
  std::int64_t odd_rows[2] = {}, odd_columns[2] = {};  // that hold a NaN or an infinity
  for (const int quarter : {0, 1, 2, 3}) {
    Report found;
    share += multiply(quarter_of(call, quarter), 4 * number + quarter + 1, found) / 4;
    odd_rows[quarter / 2] = std::max(odd_rows[quarter / 2], found.nonfinite_rows);
    odd_columns[quarter % 2] = std::max(odd_columns[quarter % 2], found.nonfinite_columns);
    add_quarter(report, std::move(found), quarter == 0);
  }
  report.plan.m = call.m, report.nonfinite_rows = odd_rows[0] + odd_rows[1];
  report.plan.n = call.n, report.nonfinite_columns = odd_columns[0] + odd_columns[1];
  if (number > 0) return share;
  try {
    report.plan.reason += fmt::format("; by quarters of C{}, {} % by residues", queued, static_cast<int>(100 * share));
  } catch (const std::bad_alloc&) {  // C is written
  }
  return share;
}

template <class T>
DeviceProductPlan plan_of_quarters(const DeviceGemmCall<T>& call, const Options& options, int number) {
  DeviceProductPlan plan = plan_of<T>(call.shape(), options, true);
  plan.part = number;
  return plan;
}

// planned(part of the call, options, its number, its report), or cuBLAS where memory is refused.
template <class T, class Planned>
double part_or_native(const DeviceGemmCall<T>& call, const Options& options, int part, Report& report,
                      const Planned& planned) {
  const auto leave_to_cublas = [&] {  // before this quarter is written to; others may be
    if (part == 0) throw;
    describe_native(report.plan);
    native_gemm(call, options);
  };
  try {
    planned(call, options, part, report);
  } catch (const std::bad_alloc&) {
    leave_to_cublas();
  } catch (const Error& error) {
    if (error.status() != Status::out_of_memory) throw;
    leave_to_cublas();
  }
  return report.plan.scheme != native_name ? 1 : 0;
}

// Quarters that went alike, one time after the other, are queued as if no host waited, which then looks at what the
// device decided about all: a host that is at work elsewhere waits once, not before each quarter's end. None: nothing
// is done, since some go by quarters of their own, or may still learn.
template <class T, class Planned>
std::optional<double> queue_quarters(const DeviceGemmCall<T>& call, const Options& options,
                                     const DeviceProductPlan& plan, Report& report, const Planned& planned) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  if (int8_engine(options).sums_in_memory()) return std::nullopt;
  // Four outcomes take memory; and a part of k is enough without a host only where C is not read.
  if (options.workspace != nullptr || *call.beta != 0) return std::nullopt;
  for (const int quarter : {0, 1, 2, 3}) {
    const DeviceProductPlan part = plan_of_quarters(quarter_of(call, quarter), options, quarter + 1);
    if (takes_quarters_without_host(stream, part) || tries_something(stream, part)) return std::nullopt;
  }
  Report reports[4];
  Outcome found[4];
  std::optional<DeviceWorkspace> granted;
  try {
    granted.emplace(sizeof found, stream);
  } catch (const Error& error) {
    if (error.status() != Status::out_of_memory) throw;
    return std::nullopt;
  }
  const DeviceWorkspace& memory = *granted;
  check(cudaMemsetAsync(memory.data(), 0, sizeof found, stream), "quarters");
  Options queued = options;
  queued.asynchronous = true;
  for (const int quarter : {0, 1, 2, 3}) {
    queued.outcome = reinterpret_cast<Outcome*>(memory.data()) + quarter;
    part_or_native(quarter_of(call, quarter), queued, quarter + 1, reports[quarter], planned);
  }
  check(cudaMemcpyAsync(found, memory.data(), sizeof found, cudaMemcpyDefault, stream), "quarters");
  check(cudaStreamSynchronize(stream), "quarters");
  bool in_vain = false;
  const auto complete = [&](const DeviceGemmCall<T>& /*quarter*/, int number, Report& of_part) {
    const Outcome& outcome = found[number - 1];
    of_part = std::move(reports[number - 1]);
    if (of_part.plan.scheme != native_name) {
      complete_report(of_part, outcome);
      if (of_part.plan.scheme != native_name) return 1.0;
      in_vain = true;
    } else if (outcome.words[0] != 0) {  // a part of k was not enough
      of_part.native_k = 0;
      in_vain = true;
    }
    return 0.0;
  };
  const double share = for_quarters(call, 0, report, complete, " queued at once");
  took_quarters(stream, plan, share, report.plan.moduli, in_vain);
  return share;
}

// By quarters of C, or, where it is quarter `number` of a larger one, of that, as for_quarters() has it. None: nothing
// is done.
template <class T, class Multiply, class Planned>
std::optional<double> multiply_quarters(const DeviceGemmCall<T>& call, const Options& options, int number,
                                        Report& report, Multiply multiply, const Planned& planned) {
  if (!has_quarters(call, options)) return std::nullopt;
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const bool waits = !without_host(options);
  if (!waits && options.outcome != nullptr) return std::nullopt;  // there is one outcome
  const DeviceProductPlan plan = plan_of_quarters(call, options, number);
  if (waits ? !takes_quarters(stream, plan) : !takes_quarters_without_host(stream, plan)) return std::nullopt;
  if (LeftFallbacks::asked() && !has_lent_cublas()) return std::nullopt;
  thread_cublas();  // fails before C is written to
  if (waits && number == 0 && quarters_went_alike(stream, plan))
    if (const auto share = queue_quarters(call, options, plan, report, planned)) return share;
  const double share = for_quarters(call, number, report, multiply);
  if (waits) took_quarters(stream, plan, share, report.plan.moduli, false);
  return share;
}

// By quarters of C where these are known to serve, each of which may be such a product, else as planned(part of the
// call, options, its number or 0, its report) has it. Returns the share of C that went by residues.
template <class T, class Planned>
double gemm_or_quarters(const DeviceGemmCall<T>& call, const Options& options, int part, Report& report,
                        const Planned& planned) {
  const auto quarter = [&](const DeviceGemmCall<T>& of, int number, Report& found) {
    return gemm_or_quarters(of, options, number, found, planned);
  };
  double by_quarters = -1;
  const auto by_quarters_or_planned = [&](const auto& of, const Options& its, int number, Report& found) {
    if (const auto share = multiply_quarters(of, its, number, found, quarter, planned))
      by_quarters = *share;
    else
      planned(of, its, number, found);
  };
  const double whole = part_or_native(call, options, part, report, by_quarters_or_planned);
  return by_quarters < 0 ? whole : by_quarters;
}

}  // namespace vernier::cuda
