#include "blas/plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <span>
#include <string>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "bf16x6/engine.hpp"
#include "number/ieee754.hpp"
#include "product/plan/measured_rates.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/plan/cost.hpp"

namespace vernier {
namespace {

constexpr std::string_view native_method = "native";

int thread_count(const Options& options) { return usable_threads(options.threads); }

bool asks_for_bf16x6(const std::string& requested) {
  const Bf16x6Engine* engine = bf16x6_engine();
  return engine != nullptr && requested == engine->name;
}

// The engine of what is not multiplied in parts.
const Int8Engine& int8_engine(const Options& options) {
  return asks_for_bf16x6(requested_engine(options.engine)) ? preferred_int8_engine() : find_int8_engine(options.engine);
}

// float under contract fp32, where nobody asked for definite bits.
template <class T>
bool bf16x6_keeps_contract(const Contract& contract) {
  return std::is_same_v<T, float> && contract.kind == Contract::Kind::fp32 && !contract.reproducible;
}

// The engine's name, but for one in the environment that multiplies products of another kind.
template <class T>
std::string engine_asked_for(const Options& options, bool doubled) {
  std::string requested = requested_engine(options.engine);
  if (options.engine.empty() && asks_for_bf16x6(requested)) {
    find_int8_engine("");  // an error where this machine cannot run what was named
    if (doubled || !bf16x6_keeps_contract<T>(options.contract)) requested.clear();
  }
  return requested;
}

// Unknown and unsupported names are errors for every product, also where no engine is needed.
template <class T>
void check_engine_name(const std::string& requested, bool doubled, const Options& options) {
  if (asks_for_bf16x6(requested)) {
    const std::string missing = bf16x6_engine()->missing();
    if (!missing.empty())
      fail(Status::unsupported, "engine \"{}\" cannot run on this machine, which lacks {}", requested, missing);
    require(bf16x6_keeps_contract<T>(options.contract) && !doubled,
            "engine: \"{}\" multiplies float matrices under contract fp32; expected an int8 engine for {}{} and {}",
            requested, doubled ? "complex " : "", std::is_same_v<T, float> ? "float" : "double",
            options.contract.text());
  } else if (!requested.empty() && requested != native_method) {
    find_int8_engine(options.engine);
  }
}

// Seconds of a product of ordinary data: of three products of parts where it is a complex one.
double ordinary_seconds(const ProductPlan& plan, const Int8Engine& engine, int moduli, int threads) {
  const ProductShape& s = plan.shape;
  if (!plan.doubled || plan.exact) return residue_seconds(engine.name(), s, moduli, threads);
  return residue_seconds(engine.name(), {s.m / 2, s.n, s.k / 2}, 3 * moduli, threads);
}

std::string source_of(std::span<const Rival> rivals) {
  const bool seen = std::any_of(rivals.begin(), rivals.end(), [](const Rival& r) { return r.seen > 0; });
  return by_estimates + source_of_estimates() + (seen ? " and times seen in this process" : "");
}

// Which int8 engine, or null for the native product, and why.
template <class T>
const Int8Engine* choose_engine(ProductPlan& plan, const std::string& requested, const Options& options) {
  const Contract& contract = options.contract;
  const bool named = !requested.empty() && requested != native_method && !asks_for_bf16x6(requested);
  const int threads = plan.printable.threads;
  const double native = native_seconds(plan.shape, plan.single_precision, threads);
  const MethodChoice choice = choose_by_request({.contract = contract,
                                                 .native_keeps = native_keeps<T>(contract),
                                                 .asked = asks_for_bf16x6(requested) ? "" : requested,
                                                 .small = native <= least_residue_seconds},
                                                plan.printable);
  if (choice == MethodChoice::native) return nullptr;
  plan.native = native_use<T>(contract, named);
  const Int8Engine& engine = named ? find_int8_engine(options.engine) : preferred_int8_engine();
  if (choice == MethodChoice::residues) return &engine;
  if (plan.rivals.count == 0) {  // else parts were asked about: the same choice again
    const int moduli = ordinary_moduli<T>(contract, plan.shape.k);
    plan.rivals.add(Method::native, native);
    plan.rivals.add(Method::residues, cautious(ordinary_seconds(plan, engine, moduli, threads)));
  }
  const std::span<Rival> all = plan.rivals.span(),
                         rivals = plan.bf16x6 ? all.first(2) : all;  // behind parts, or of all
  const Method method = choose_method(class_of<T>(plan), rivals);
  plan.printable.reason = compared(
      source_of(rivals), {{rivals[1].seconds(), "by residues on ", engine.name()}, {rivals[0].seconds(), "natively"}});
  plan.by_estimate = requested.empty();
  return method == Method::residues ? &engine : nullptr;
}

// Are parts a rival of the other methods by estimate? For briefer products they take 1.1 to 4 times the native time.
template <class T>
bool bf16x6_competes(const ProductShape& shape, const std::string& requested, const Options& options) {
  return requested.empty() && usable_bf16x6_engine() != nullptr && bf16x6_keeps_contract<T>(options.contract) &&
         native_seconds(shape, true, thread_count(options)) > least_residue_seconds;
}

// Parts, if they are asked for or the estimates are for them. among: set to the methods of that choice.
template <class T>
std::optional<Bf16x6Choice> choose_bf16x6(const ProductShape& shape, const std::string& requested,
                                          const Options& options, std::size_t limit, Rivals& among) {
  const bool asked = asks_for_bf16x6(requested), named = asked && !options.engine.empty();
  const Bf16x6Engine* engine = usable_bf16x6_engine();
  if (asked ? engine == nullptr || !bf16x6_keeps_contract<T>(options.contract)
            : !bf16x6_competes<T>(shape, requested, options))
    return {};
  const int threads = thread_count(options);
  const model::Engine& instruction = model::find_engine(engine->model).engine;
  const bool keeps = shape.k <= bf16x6_longest_k && bf16x6_keeps_fp32(instruction, shape.k);
  require(keeps || !named, "engine: \"{}\" cannot keep contract fp32 for k = {}", requested, shape.k);
  if (!keeps) return {};
  const int moduli = ordinary_moduli<T>(options.contract, shape.k);
  const std::string_view int8 = preferred_int8_engine().name();
  const ProductClass product{ElementType::single_real, shape, threads};
  if (!asked) {
    among.add(Method::native, native_seconds(shape, true, threads));
    among.add(Method::residues, cautious(residue_seconds(int8, shape, moduli, threads)));
    among.add(Method::bf16x6, cautious(bf16x6_seconds(shape, threads)));
    if (choose_method(product, among.span()) != Method::bf16x6) return {};
  }
  Bf16x6Choice choice{.engine = engine, .blocking = choose_bf16x6_blocking(shape, threads, limit)};
  if (choice.blocking.bytes > limit) {
    if (named)
      fail(options.workspace != nullptr ? Status::invalid_argument : Status::out_of_memory,
           "{}: {} bytes are too few for engine {}; expected at least {}",
           options.workspace != nullptr ? "workspace" : "workspace_limit", limit, requested, choice.blocking.bytes);
    if (!asked) --among.count;  // no parts
    return {};
  }
  choice.printable.reason =
      asked ? fmt::format("engine {} was asked for", requested)
            : compared(source_of(among.span()), {{among.all[2].seconds(), "by bf16 parts on ", engine->name},
                                                 {among.all[1].seconds(), "by residues on ", int8},
                                                 {among.all[0].seconds(), "natively"}});
  return choice;
}

void describe_bf16x6(Bf16x6Choice& parts, const Plan& plan) {
  const std::string reason = parts.printable.reason;
  Plan& p = parts.printable;
  p = plan;
  p.reason = reason;
  p.scheme = "bf16x6";
  p.engine = std::string(parts.engine->name);
  const double bound = bf16x6_error_bound(model::find_engine(parts.engine->model).engine, plan.k);
  p.log2_bound = std::log2(bound + 1) - Ieee754<float>::precision;
  p.m_block = std::min(parts.blocking.row_block, parts.blocking.shape.m);
  p.n_block = std::min(parts.blocking.n_block, parts.blocking.shape.n);
  p.k_block = std::min<std::int64_t>(bf16x6_group, parts.blocking.shape.k);
  p.workspace = parts.blocking.bytes;
}

}  // namespace

std::size_t default_limit(const ProductShape& shape, std::size_t element_bytes, int threads, std::size_t least) {
  static const int processors = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)));
  const auto [m, n, k] = shape;
  const std::size_t elements = size_sum(size_product({m, n}), size_sum(size_product({m, k}), size_product({k, n})));
  const auto at = [](int x) { return static_cast<std::size_t>(x); };
  const std::size_t share = machine_memory_bytes() / 4 / at(processors) * at(std::min(threads, processors)),
                    most = std::min(4 * default_workspace_limit, share),
                    wanted = std::min(most, size_product({elements, 2 * element_bytes})),
                    fewest = std::max(default_workspace_limit, least);
  return wanted > fewest && grants_workspace(wanted) ? wanted : fewest;
}

std::size_t workspace_limit(const ProductShape& shape, std::size_t element_bytes, const Options& options,
                            std::size_t least) {
  if (options.workspace != nullptr) return options.workspace_bytes;
  return options.workspace_limit != 0 ? options.workspace_limit
                                      : default_limit(shape, element_bytes, thread_count(options), least);
}

template <class T>
void observe_product(const ProductPlan& plan, double seconds) noexcept try {
  if (!plan.by_estimate || !observes()) return;
  const Method planned = plan.bf16x6 ? Method::bf16x6 : plan.engine != nullptr ? Method::residues : Method::native;
  observe(class_of<T>(plan), plan.rivals.span(), planned, seconds);
} catch (const std::exception&) {  // no memory for it: C is written, and nothing may fail any more
}

template <class T>
std::size_t workspace_bytes(const ProductShape& shape, const Options& options, bool least) {
  if (shape.empty()) return 0;
  const std::string requested = engine_asked_for<T>(options, false);
  const bool native = requested == native_method;
  const Int8Engine& engine = native ? preferred_int8_engine() : int8_engine(options);
  const auto bytes = [&](int moduli, std::size_t limit) {
    return vector_bytes(shape, thread_count(options), options.contract.kind == Contract::Kind::exact) +
           choose_blocking(shape, moduli, thread_count(options), engine, limit).bytes;
  };
  const std::size_t smallest = bytes(max_moduli, 0);  // whatever the data ask for
  const bool named_parts = !options.engine.empty() && asks_for_bf16x6(requested);
  if (least && named_parts) return std::max(smallest, choose_bf16x6_blocking(shape, thread_count(options), 0).bytes);
  if (least) return smallest;
  const std::size_t limit =
      workspace_limit(shape, sizeof(T), Options{.workspace_limit = options.workspace_limit}, smallest);
  const std::size_t residues = std::max(smallest, bytes(ordinary_moduli<T>(options.contract, shape.k), limit));
  Rivals among;
  const auto parts = choose_bf16x6<T>(shape, requested, options, limit, among);
  return parts ? std::max(residues, parts->blocking.bytes) : residues;
}

int norm_budget_within(int moduli, std::int64_t k, double share) {
  // Vectors of norms up to x, rounded to integers: |Ct| <= share x^2 + sqrt(k) x + k / 4.
  const double length = static_cast<double>(k), held = std::exp2(log2_bound_of(moduli)) - length,
               norm = 2 * held / (std::sqrt(length) + std::sqrt(length + 4 * share * held));
  return norm > 1 ? static_cast<int>(32 * std::log2(norm) - 1e-4) : 0;
}

template <class T>
bool plan_small_product(const ProductShape& s, const Options& options, Plan& p) {
  const Contract& c = options.contract;
  if (c.reproducible || !native_keeps<T>(c) || !options.engine.empty() || engine_in_environment() != nullptr)
    return false;
  const int threads = thread_count(options);
  if (!is_small_product(s) && native_seconds(s, std::is_same_v<T, float>, threads) > least_residue_seconds)
    return false;
  describe_product<T>(s, c, p);
  describe_small(p, threads);
  return true;
}

template <class T>
ProductPlan plan_product(const ProductShape& shape, const Options& options, bool doubled) {
  ProductPlan plan;
  const bool any = begin_plan<T>(shape, options.contract, plan);
  plan.doubled = doubled;
  Plan& p = plan.printable;
  p.threads = thread_count(options);
  const std::string requested = engine_asked_for<T>(options, doubled);
  check_engine_name<T>(requested, doubled, options);
  if (!any) return plan;
  if (!doubled) {
    plan.bf16x6 = choose_bf16x6<T>(shape, requested, options, workspace_limit(shape, sizeof(T), options), plan.rivals);
    if (plan.bf16x6) describe_bf16x6(*plan.bf16x6, p);
  }
  plan.engine = choose_engine<T>(plan, requested, options);
  if (plan.engine == nullptr) {
    p.scheme = native_method;
    return plan;
  }
  if (!plan.exact && !plan.by_estimate) p.threads = residue_threads(shape, p.threads);
  plan.rule = scaling_rule<T>(options.contract, shape.k);
  plan.vector_bytes = vector_bytes(shape, p.threads, plan.exact);
  const std::size_t least = workspace_bytes<T>(shape, options, true),
                    limit = workspace_limit(shape, sizeof(T), options, least);
  require_workspace(shape, limit, least, options.workspace != nullptr);
  const std::size_t available = limit - plan.vector_bytes;
  const int moduli = ordinary_moduli<T>(options.contract, shape.k);
  plan.ordinary = choose_blocking(shape, moduli, p.threads, *plan.engine, available);
  plan.bound = bound_rule<T>(options.contract, shape.k);
  if (!doubled) plan.speculative = speculative_product<T>(options.contract, shape.k);
  // The caller's own workspace is used as it is; else what ordinary data take, or the least that serves any.
  plan.most_pass_bytes = available;
  plan.least_pass_bytes = options.workspace != nullptr ? available : least - plan.vector_bytes;
  plan.pass_bytes = std::max(plan.ordinary.bytes, plan.least_pass_bytes);
  describe_residues(plan);
  return plan;
}

VERNIER_REAL_INSTANCES(workspace_bytes, plan_small_product, observe_product, plan_product)

}  // namespace vernier
