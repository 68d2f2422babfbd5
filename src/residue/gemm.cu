#include "residue/gemm_cuda.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/duration.hpp"
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "cuda/device.hpp"
#include "residue/bound/balance.hpp"
#include "residue/regularity.hpp"
#include "residue/run.hpp"

namespace vernier::cuda {
bool without_host(const Options& options) {
  return options.asynchronous || capturing(static_cast<cudaStream_t>(options.stream));
}

template <class T>
void check_without_host(const Options& options) {
  if (!without_host(options) || options.contract.kind == Contract::Kind::normwise) return;
  const DeviceInt8Engine& engine = find_device_int8_engine(options.engine);
  if (engine.sums_in_memory())
    fail(Status::unsupported,
         "gemm: contract {} by residues of engine {} cannot be captured in a graph or be had asynchronously, "
         "since it depends on the data how many moduli they take; expected fp64-normwise, or engine mma_int8",
         options.contract.text(), engine.name());
  const bool always_ends =
      options.contract.kind == Contract::Kind::exact || native_use<T>(options.contract) != NativeUse::never;
  if (options.outcome == nullptr && !always_ends)
    fail(Status::unsupported,
         "gemm: contract {} cannot be captured in a graph or be had asynchronously without an outcome, since data may "
         "be too wide for it and nothing else tells; expected Options::outcome, and gemm itself",
         options.contract.text());
}
VERNIER_REAL_INSTANCES(check_without_host, residue_gemm)

void clear_outcome(const Options& options) {
  if (options.outcome == nullptr) return;
  check(cudaMemsetAsync(options.outcome, 0, sizeof(Outcome), static_cast<cudaStream_t>(options.stream)), "outcome");
}

namespace {

bool is_allowed(unsigned allowed, int number) { return (allowed >> (number - 1) & 1) != 0; }

// What is known after an irregular product says what to guess for the next one: of the allowed guesses the first that
// did not fail yet. bound: moduli by the right scales. grading: of operands that balancing may be worth a trial.
void expect(const DeviceProductPlan& plan, unsigned allowed, int bound, int grading, ProductMemory& memory) {
  int next = memory.failed_guess + 1;
  while (next <= plan.guesses() && !is_allowed(allowed, next)) ++next;
  memory.guess = next <= plan.guesses() ? guess_worth_making(plan, next, bound, memory.share) : 0;  // none is balanced
  const int balanced = std::max(memory.failed_balanced, most_guesses) + 1;
  if (grading < least_grading || guess_worth_making(plan, balanced, bound, memory.share) == 0) return;
  const auto moduli = [&](int number) { return guess_of(plan.least_guess, number).moduli; };
  const int rival = memory.guess > 0 ? moduli(memory.guess) : bound > 0 ? bound : max_moduli;
  if (moduli(balanced) < rival) memory.guess = balanced;
}

// A balanced guess failed: the next one that its judge would have let through is left to try, once.
void remember_failed_balance(const DeviceProductPlan& plan, const GuessFindings& found, ProductMemory& memory) {
  const int failed = std::exchange(memory.guess, 0);
  int next = failed + 1;
  const bool again = failed > most_guesses + 1;
  while (plan.may_guess(next) && (again || !is_allowed(found.allowed & ~found.coarse, next - most_guesses))) ++next;
  memory.failed_balanced = next - 1;
}

// Of a product that its statistics leave irregular, by scales from |A||B|; first: what is queued already.
template <class T>
bool gemm_by_bound(const DeviceProductPlan& plan, DeviceRun<T>& run, FirstKernel first, ProductMemory& memory,
                   Report& report) {
  const int guess = first == FirstKernel::guess ? memory.guess : 0;
  const DeviceBoundRun<T> bound = run.bound(guess);
  memory.failed_guess = std::max(memory.failed_guess, guess);
  report.fallback = plan.most_bound_moduli == 0;
  if (report.fallback) {
    expect(plan, guess > 0 ? bound.guess_findings().allowed : ~0u, 0, 0, memory);
    return false;
  }
  const Clock clock;
  if (first != FirstKernel::bytes) {
    bound.measure(false, {});
    bound.choose({});
  }
  const bool asks = memory.symmetric == 0 && !plan.symmetric && run.compare();
  const BoundFindings found = bound.findings(report);
  if (asks) memory.symmetric = run.is_symmetric() ? 1 : -1;
  report.bounded = true;
  report.seconds_bound = clock.seconds();
  memory.share = found.share;
  // What failed of operands that are graded otherwise says nothing of these.
  if (std::abs(found.grading - memory.grading) >= least_grading) memory.failed_balanced = 0;
  memory.grading = found.grading;
  const auto learn_of_copies = [&](int moduli) {
    const bool may_gain = moduli == 0 || (moduli > plan.least_guess && !is_hollow(found.share));
    if (plan.may_copy_balanced() && memory.copies == 0 && found.grading >= least_grading && may_gain)
      memory = {.irregular = true, .copies = moduli == 0 ? max_moduli + 1 : moduli};
  };
  DevicePass pass;
  if (found.moduli > 0) pass = bound_device_pass(plan, found.moduli, found.exponent, found.share);
  const int moduli = bound_pass_wins(plan, pass, found.share) ? found.moduli : 0;
  report.fallback = moduli == 0 && plan.native == NativeUse::for_speed;
  expect(plan, found.allowed & ~found.coarse, moduli, found.grading, memory);
  learn_of_copies(moduli);
  if (moduli == 0) return false;
  set_moduli(report.plan, moduli);
  report.wide_moduli = memory.moduli = moduli;
  run.run_pass(pass, report.nonfinite_rows + report.nonfinite_columns > 0, found.share);
  return true;
}

// Of a product that does not fit the square-root rule, and takes no scales from |A||B|: by wide scales and passes.
template <class T>
bool gemm_by_passes(const DeviceProductPlan& plan, DeviceRun<T>& run, Report& report) {
  const Scaling scaling = run.scale(report);
  const DevicePassList passes = plan_device_passes(plan, scaling);
  if (!report_passes(plan, scaling, passes, report)) return false;
  for (int i = 0; i < passes.count; ++i)
    run.run_pass(passes.pass[i], report.nonfinite_rows + report.nonfinite_columns > 0);
  return true;
}

// What products of this shape were lately says what their first kernel writes: residues by scales that do not serve are
// made in vain.
template <class T>
FirstKernel first_kernel(const DeviceProductPlan& plan, const ProductMemory& memory) {
  if (!memory.irregular) return DeviceRun<T>::at_once(plan) ? FirstKernel::whole : FirstKernel::statistics;
  if (memory.guess > 0) return FirstKernel::guess;
  return plan.most_bound_moduli == 0 ? FirstKernel::statistics : FirstKernel::bytes;
}

// A guess may be one of a larger workspace, and copies of another contract.
ProductMemory within(const DeviceProductPlan& plan, ProductMemory memory) {
  if (!plan.may_guess(memory.guess)) memory.guess = 0;
  if (memory.copies > 0 && !plan.may_copy_balanced()) memory.copies = 0;
  return memory;
}

// The first kernel and what follows from it; true: nothing remains to be done.
template <class T>
bool start_on_device(const DeviceProductPlan& plan, DeviceRun<T>& run, FirstKernel first, cudaStream_t stream,
                     ProductMemory& memory, Report& report) {
  const bool balanced = first == FirstKernel::guess && is_balanced(memory.guess);
  bool serves = false, regular = false;
  {
    RegularityQuestion words(stream, plan.by_sqrt_rule);
    Regularity regularity = words.regularity();
    regularity.is_irregular = run.irregular();
    if (first == FirstKernel::guess)
      run.start_by_guess(regularity, memory.guess, words.guess_serves());
    else
      run.start(regularity, false, first);
    regular = words.wait();
    memory.irregular = !regular || balanced;
    serves = first == FirstKernel::guess && memory.irregular && words.wait_for_guess();
  }
  memory.served = serves;
  // What failed of operands that were not ordinary once balanced says nothing of those that are.
  const bool anew = balanced && regular && !memory.balanced_ordinary;
  if (balanced) memory.balanced_ordinary = regular;
  if (first == FirstKernel::guess && (serves || !memory.irregular)) {
    set_moduli(report.plan, guess_of(plan.least_guess, memory.guess).moduli);
    report.bounded = serves;
    if (!memory.irregular) memory = {};
    if (anew) memory = {.irregular = true, .guess = most_guesses + 1, .served = true, .balanced_ordinary = true};
    return true;
  }
  if (memory.irregular) return false;
  memory = {};
  if (first != FirstKernel::whole) run.run_blocks(false);
  return true;
}

// The host waits for what the data ask for.
template <class T>
bool wait_for_gemm(const DeviceProductPlan& plan, DeviceRun<T>& run, const Options& options, ProductMemory& memory,
                   Report& report) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  FirstKernel first = first_kernel<T>(plan, memory);
  bool done = start_on_device(plan, run, first, stream, memory, report);
  if (!done && first == FirstKernel::guess && is_balanced(memory.guess)) {  // what is known is of balanced operands
    remember_failed_balance(plan, run.bound(memory.guess).guess_findings(), memory);
    first = first_kernel<T>(plan, memory);
    done = start_on_device(plan, run, first, stream, memory, report);
  }
  if (done) return true;
  if (plan.bound) return gemm_by_bound(plan, run, first, memory, report);
  if (plan.by_sqrt_rule) return false;
  report.fallback = irregular_products_lose(plan);
  return !report.fallback && gemm_by_passes(plan, run, report);
}

// Balanced copies of both operands, of which the product is then made. An element that leaves the normal numbers is
// none in a copy: the host takes the operands as they are then, and where none waits the product goes natively.
class BalancedCopies {
 public:
  BalancedCopies(const DeviceResidueProblem<double>& problem, const std::int8_t* exponents, cudaStream_t stream,
                 bool waits)
      : problem_(problem), memory_(bytes_of(problem), stream) {
    Arena arena = memory_.arena();
    int* lost = arena.take<int>(1);
    check(cudaMemsetAsync(lost, 0, sizeof *lost, stream), "balanced copies");
    for (const Side side : both_sides) {
      Operand<double>& x = side == Side::left ? problem_.a : problem_.b;
      auto* to = arena.take<double>(elements(x));
      copy_balanced_on_device(balanced(x, side, exponents), to, lost, stream);
      x.data = to;
      x.ld = x.k_contiguous ? x.k : x.vectors;
    }
    if (waits) lost_ = on_host(lost, 1, stream)[0] != 0;
  }

  static std::size_t bytes_of(const DeviceResidueProblem<double>& problem) {
    Arena count;
    count.take<int>(1);
    count.take<double>(elements(problem.a));
    count.take<double>(elements(problem.b));
    return count.used();
  }
  const DeviceResidueProblem<double>* problem() const { return lost_ ? nullptr : &problem_; }

 private:
  static std::size_t elements(const Operand<double>& x) { return static_cast<std::size_t>(x.vectors * x.k); }

  DeviceResidueProblem<double> problem_;
  DeviceWorkspace memory_;
  bool lost_ = false;
};

// Is there room for them, where earlier products of the shape were graded?
bool may_make_copies(const DeviceProductPlan& plan, const DeviceResidueProblem<double>& problem, const Options& options,
                     const ProductMemory& memory) {
  if (memory.copies <= 0 || options.workspace != nullptr) return false;
  const std::size_t bytes = plan.vector_bytes + plan.pass_bytes + BalancedCopies::bytes_of(problem);
  return options.workspace_limit == 0 || bytes <= options.workspace_limit;
}

void make_copies(const DeviceResidueProblem<double>& problem, const std::int8_t* exponents, cudaStream_t stream,
                 bool waits, std::optional<BalancedCopies>& copies) {
  try {
    copies.emplace(problem, exponents, stream, waits);
  } catch (const Error& error) {
    if (error.status() != Status::out_of_memory) throw;
  }
}

// By copies where earlier products of the shape were graded; none: as operands are.
std::optional<bool> gemm_of_copies(const DeviceProductPlan& plan, const DeviceInt8Engine& engine,
                                   const DeviceResidueProblem<double>& problem, const DeviceWorkspace& workspace,
                                   const Options& options, ProductMemory& memory, Report& report) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  if (!may_make_copies(plan, problem, options, memory)) return std::nullopt;
  const int limit = memory.copies;
  const DeviceRun<double> plain(plan, engine, problem, stream, workspace.arena());
  const std::int8_t* exponents = plain.find_balance();
  if (plain.grading() < least_grading) {  // as earlier products were not
    memory = {};
    return std::nullopt;
  }
  const auto give_up = [&] { memory = {.irregular = true, .copies = -1}; };
  std::optional<BalancedCopies> copies;
  make_copies(problem, exponents, stream, true, copies);
  if (!copies || copies->problem() == nullptr) return give_up(), std::nullopt;
  DeviceRun<double> run(plan, engine, *copies->problem(), stream, workspace.arena());
  const bool done = wait_for_gemm(plan, run, options, memory, report);
  memory.copies = limit;
  if (!done || report.plan.moduli >= limit) give_up();
  return done;
}

// All that any data may need is queued.
template <class T>
void queue_gemm(const DeviceProductPlan& plan, const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem,
                const DeviceWorkspace& workspace, const Options& options, Report& report) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  DeviceRun<T> run(plan, engine, problem, stream, workspace.arena());
  if (options.contract.kind == Contract::Kind::normwise) {
    const bool at_once = DeviceRun<T>::at_once(plan);
    run.start({}, true, at_once ? FirstKernel::whole : FirstKernel::statistics);
    if (!at_once) run.run_blocks(true);
    return;
  }
  // What is known of earlier products whose host waited.
  ProductMemory memory = within(plan, remembered(plan, Past{stream, false}));
  const auto queue = [&](DeviceRun<T>& of) {
    // What balancing does to very large and to very small elements goes natively there, and trials are the host's.
    if (is_balanced(memory.guess) && (!memory.served || plan.native == NativeUse::never)) memory.guess = 0;
    const FirstKernel first = first_kernel<T>(plan, memory);
    if (first == FirstKernel::guess) set_moduli(report.plan, guess_of(plan.least_guess, memory.guess).moduli);
    of.run_without_host(options.outcome, first, memory.guess,
                        {memory.share, first == FirstKernel::bytes ? memory.moduli : 0});
  };
  if constexpr (std::is_same_v<T, double>) {
    // Memory of a graph is taken when it begins.
    std::optional<BalancedCopies> copies;
    if (plan.native != NativeUse::never && may_make_copies(plan, problem, options, memory) &&
        (!capturing(stream) || available_device_memory() > 4 * BalancedCopies::bytes_of(problem)))
      make_copies(problem, run.find_balance(), stream, false, copies);
    if (copies) {
      DeviceRun<T> balanced(plan, engine, *copies->problem(), stream, workspace.arena(), &problem);
      return queue(balanced);
    }
  }
  memory = memory.without_copies();
  queue(run);
}

}  // namespace

template <class T>
bool residue_gemm(const DeviceProductPlan& plan, const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem,
                  const Options& options, Report& report) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  check_without_host<T>(options);
  const DeviceWorkspace workspace(plan.vector_bytes + plan.pass_bytes, stream, options.workspace);
  if (without_host(options)) {
    queue_gemm(plan, engine, problem, workspace, options, report);
    return true;
  }
  DeviceRun<T> run(plan, engine, problem, stream, workspace.arena());
  ProductMemory memory = within(plan, remembered(plan, Past{stream, true}));
  std::optional<bool> done;
  if constexpr (std::is_same_v<T, double>)
    done = gemm_of_copies(plan, engine, problem, workspace, options, memory, report);
  if (!done) done = wait_for_gemm(plan, run, options, memory, report);
  remember(stream, plan, memory);
  return *done;
}

}  // namespace vernier::cuda
