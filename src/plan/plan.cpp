#include "plan/plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "number/ieee754.hpp"
#include "plan/bounds.hpp"
#include "plan/part_bounds.hpp"
#include "scheme/residues.hpp"

namespace vernier {
namespace {

constexpr std::string_view native_name = "native";

int thread_count(const Options& options) { return usable_threads(options.threads); }

bool asks_for_parts(const std::string& requested) {
  const PartEngine* engine = part_engine();
  return engine != nullptr && requested == engine->name;
}

// The engine of what is not multiplied in parts.
const Int8Engine& int8_engine(const Options& options) {
  return asks_for_parts(requested_engine(options.engine)) ? preferred_int8_engine() : find_int8_engine(options.engine);
}

// float under contract fp32, where nobody asked for definite bits.
template <class T>
bool parts_keep_contract(const Contract& contract) {
  return std::is_same_v<T, float> && contract.kind == Contract::Kind::fp32 && !contract.reproducible;
}

constexpr const char* small_product_reason = "so small a product is done before residues are made";

template <class T>
void describe_request(const ProductShape& shape, const Options& options, Plan& p) {
  describe_product<T>(shape, options.contract, p);
  p.threads = thread_count(options);
}

// The engine's name, but for one in the environment that multiplies products of another kind.
template <class T>
std::string engine_asked_for(const Options& options, bool doubled) {
  std::string requested = requested_engine(options.engine);
  if (options.engine.empty() && asks_for_parts(requested)) {
    find_int8_engine("");  // an error where this machine cannot run what was named
    if (doubled || !parts_keep_contract<T>(options.contract)) requested.clear();
  }
  return requested;
}

// Unknown and unsupported names are errors for every product, also where no engine is needed.
template <class T>
void check_engine_name(const std::string& requested, bool doubled, const Options& options) {
  if (asks_for_parts(requested)) {
    const std::string missing = part_engine()->missing();
    if (!missing.empty())
      fail(Status::unsupported, "engine \"{}\" cannot run on this machine, which lacks {}", requested, missing);
    require(parts_keep_contract<T>(options.contract) && !doubled,
            "engine: \"{}\" multiplies float matrices under contract fp32; expected an int8 engine for {}{} and {}",
            requested, doubled ? "complex " : "", std::is_same_v<T, float> ? "float" : "double",
            options.contract.text());
  } else if (!requested.empty() && requested != native_name) {
    find_int8_engine(options.engine);
  }
}

std::size_t vector_bytes(const ProductShape& shape, int threads, bool exact) {
  Arena count;
  carve_vectors(count, shape, threads, exact);
  return count.used();
}

// The default gives way where not even the least workspace fits it.
std::size_t workspace_limit(const Options& options, std::size_t least) {
  if (options.workspace != nullptr) return options.workspace_bytes;
  return options.workspace_limit != 0 ? options.workspace_limit : std::max(default_workspace_limit, least);
}

// Seconds of a product of ordinary data: of three products of parts where it is a complex one.
double ordinary_seconds(const ProductPlan& plan, const Int8Engine& engine, int moduli, int threads) {
  const ProductShape& s = plan.shape;
  if (!plan.doubled || plan.exact) return residue_seconds(engine.name(), s, moduli, threads);
  return residue_seconds(engine.name(), {s.m / 2, s.n, s.k / 2}, 3 * moduli, threads);
}

// Which int8 engine, or null for the native product, and why.
template <class T>
const Int8Engine* choose_engine(ProductPlan& plan, const std::string& requested, const Options& options) {
  const Contract& contract = options.contract;
  std::string& reason = plan.printable.reason;
  if (requested == native_name) {
    require(!contract.reproducible && plan.native_keeps_contract,
            "engine: \"native\" cannot keep contract {} for {}; expected an int8 engine", contract.text(),
            plan.printable.type);
    reason = "the native product was asked for";
    return nullptr;
  }
  const bool named = !requested.empty() && !asks_for_parts(requested);
  const Int8Engine& engine = named ? find_int8_engine(options.engine) : preferred_int8_engine();
  plan.forced = contract.reproducible || named;
  if (named) {
    reason = fmt::format("engine {} was asked for", requested);
    return &engine;
  }
  if (contract.reproducible) {
    reason = "the contract asks for reproducible bits";
    return &engine;
  }
  if (!plan.native_keeps_contract) {
    reason = "the native product cannot keep the contract";
    return &engine;
  }
  const int threads = plan.printable.threads;
  const double native = native_seconds(plan.shape, plan.single_precision, threads);
  if (native <= least_residue_seconds) {
    reason = small_product_reason;
    return nullptr;
  }
  const int moduli = ordinary_moduli<T>(contract, plan.shape.k);
  const double residues = ordinary_seconds(plan, engine, moduli, threads);
  reason = fmt::format("estimates: {:.3g} ms by residues on {}, {:.3g} ms natively", residues * 1e3, engine.name(),
                       native * 1e3);
  return residues < native ? &engine : nullptr;
}

// Parts, if they are asked for or the estimates are for them.
template <class T>
std::optional<PartChoice> choose_parts(const ProductShape& shape, const std::string& requested, const Options& options,
                                       std::size_t limit) {
  const bool asked = asks_for_parts(requested), named = asked && !options.engine.empty();
  const PartEngine* engine = usable_part_engine();
  if (engine == nullptr || !parts_keep_contract<T>(options.contract) || (!requested.empty() && !asked)) return {};
  const int threads = thread_count(options);
  if (!asked && native_seconds(shape, true, threads) <= least_part_seconds) return {};
  const model::Engine& instruction = model::find_engine(engine->model).engine;
  const bool keeps = shape.k <= part_longest_k && parts_keep_fp32(instruction, shape.k);
  require(keeps || !named, "engine: \"{}\" cannot keep contract fp32 for k = {}", requested, shape.k);
  if (!keeps) return {};
  const int moduli = ordinary_moduli<T>(options.contract, shape.k);
  const std::string_view int8 = preferred_int8_engine().name();
  const double parts = part_seconds(shape, threads), residues = residue_seconds(int8, shape, moduli, threads);
  const double native = native_seconds(shape, true, threads);
  if (!asked && parts >= std::min(residues, native)) return {};
  PartChoice choice{.engine = engine, .blocking = choose_part_blocking(shape, threads, limit)};
  if (choice.blocking.bytes > limit) {
    if (named)
      fail(options.workspace != nullptr ? Status::invalid_argument : Status::out_of_memory,
           "{}: {} bytes are too few for engine {}; expected at least {}",
           options.workspace != nullptr ? "workspace" : "workspace_limit", limit, requested, choice.blocking.bytes);
    return {};
  }
  choice.printable.reason =
      asked ? fmt::format("engine {} was asked for", requested)
            : fmt::format("estimates: {:.3g} ms by bf16 parts on {}, {:.3g} ms by residues on {}, {:.3g} ms natively",
                          parts * 1e3, engine->name, residues * 1e3, int8, native * 1e3);
  return choice;
}

void describe_parts(PartChoice& parts, const Plan& plan) {
  const std::string reason = parts.printable.reason;
  Plan& p = parts.printable;
  p = plan;
  p.reason = reason;
  p.scheme = "bf16x6";
  p.engine = std::string(parts.engine->name);
  const double bound = part_error_bound(model::find_engine(parts.engine->model).engine, plan.k);
  p.log2_bound = std::log2(bound + 1) - Ieee754<float>::precision;
  p.m_block = std::min(parts.blocking.row_block, parts.blocking.shape.m);
  p.n_block = std::min(parts.blocking.n_block, parts.blocking.shape.n);
  p.k_block = std::min<std::int64_t>(part_group, parts.blocking.shape.k);
  p.workspace = parts.blocking.bytes;
}

void describe_residues(ProductPlan& plan) {
  Plan& p = plan.printable;
  p.scheme = "residues";
  p.engine = std::string(plan.engine->name());
  p.moduli = plan.lean ? LeanProduct::moduli : plan.ordinary.moduli;  // of most data
  p.log2_modulus_product = log2_product_of_moduli(p.moduli);
  p.m_block = std::min(plan.ordinary.m_block, plan.shape.m);
  p.n_block = std::min(plan.ordinary.n_block, plan.shape.n);
  p.k_block = std::min(plan.ordinary.k_block, plan.shape.k);
  p.workspace = plan.vector_bytes + plan.pass_bytes;
}

}  // namespace

template <class T>
std::size_t workspace_bytes(const ProductShape& shape, const Options& options, bool least) {
  if (shape.empty()) return 0;
  const std::string requested = engine_asked_for<T>(options, false);
  const bool native = requested == native_name;
  const Int8Engine& engine = native ? preferred_int8_engine() : int8_engine(options);
  const auto bytes = [&](int moduli, std::size_t limit) {
    return vector_bytes(shape, thread_count(options), options.contract.kind == Contract::Kind::exact) +
           choose_blocking(shape, moduli, thread_count(options), engine, limit).bytes;
  };
  const std::size_t smallest = bytes(max_moduli, 0);  // whatever the data ask for
  const bool named_parts = !options.engine.empty() && asks_for_parts(requested);
  if (least && named_parts) return std::max(smallest, choose_part_blocking(shape, thread_count(options), 0).bytes);
  if (least) return smallest;
  const std::size_t limit = workspace_limit(Options{.workspace_limit = options.workspace_limit}, smallest);
  const std::size_t residues = std::max(smallest, bytes(ordinary_moduli<T>(options.contract, shape.k), limit));
  const auto parts = choose_parts<T>(shape, requested, options, limit);
  return parts ? std::max(residues, parts->blocking.bytes) : residues;
}

template <class T>
bool plan_small_product(const ProductShape& s, const Options& options, Plan& p) {
  const Contract& c = options.contract;
  if (!is_small_product(s) || c.reproducible || c.kind == Contract::Kind::exact ||
      c.bits_asked > Ieee754<T>::precision || !options.engine.empty() || engine_in_environment() != nullptr)
    return false;
  describe_request<T>(s, options, p);
  p.scheme = native_name;
  p.reason = small_product_reason;
  return true;
}

template <class T>
ProductPlan plan_product(const ProductShape& shape, const Options& options, bool doubled) {
  ProductPlan plan;
  plan.shape = shape;
  plan.doubled = doubled;
  plan.single_precision = std::is_same_v<T, float>;
  plan.exact = options.contract.kind == Contract::Kind::exact;
  plan.native_keeps_contract = !plan.exact && options.contract.bits_asked <= Ieee754<T>::precision;
  Plan& p = plan.printable;
  describe_request<T>(shape, options, p);
  const std::string requested = engine_asked_for<T>(options, doubled);
  check_engine_name<T>(requested, doubled, options);
  if (shape.empty()) {
    p.scheme = "none";
    p.reason = "there is nothing to multiply";
    return plan;
  }
  if (!doubled) {
    plan.parts = choose_parts<T>(shape, requested, options, workspace_limit(options, default_workspace_limit));
    if (plan.parts) describe_parts(*plan.parts, p);
  }
  plan.engine = choose_engine<T>(plan, requested, options);
  if (plan.engine == nullptr) {
    p.scheme = native_name;
    return plan;
  }
  plan.rule = scaling_rule<T>(options.contract, shape.k);
  plan.vector_bytes = vector_bytes(shape, p.threads, plan.exact);
  const std::size_t least = workspace_bytes<T>(shape, options, true), limit = workspace_limit(options, least);
  if (limit < least)
    fail(options.workspace != nullptr ? Status::invalid_argument : Status::out_of_memory,
         "{}: {} bytes are too few for m = {}, n = {}, k = {}; expected at least {}",
         options.workspace != nullptr ? "workspace" : "workspace_limit", limit, shape.m, shape.n, shape.k, least);
  const std::size_t available = limit - plan.vector_bytes;
  const int moduli = ordinary_moduli<T>(options.contract, shape.k);
  plan.ordinary = choose_blocking(shape, moduli, p.threads, *plan.engine, available);
  if (!doubled) plan.lean = lean_product<T>(options.contract, shape.k);
  // The caller's own workspace is used as it is; else what ordinary data take, or the least that serves any.
  plan.most_pass_bytes = available;
  plan.least_pass_bytes = options.workspace != nullptr ? available : least - plan.vector_bytes;
  plan.pass_bytes = std::max(plan.ordinary.bytes, plan.least_pass_bytes);
  describe_residues(plan);
  return plan;
}

ProductPlan with_prepared(const ProductPlan& plan, const PreparedSides& prepared) {
  ProductPlan with = plan;
  with.lean.reset();
  with.ordinary = choose_blocking(plan.shape, plan.ordinary.moduli, plan.printable.threads, *plan.engine,
                                  plan.most_pass_bytes, prepared);
  if (with.ordinary.bytes > plan.most_pass_bytes) with.ordinary = plan.ordinary;
  with.pass_bytes = std::max(with.ordinary.bytes, plan.least_pass_bytes);
  describe_residues(with);
  return with;
}

namespace {

void set_digits(Pass& pass, int exponent) {
  pass.narrow = exponent <= narrow_exponent;
  for (pass.limbs = 1; exponent > largest_exponent(pass.limbs);) ++pass.limbs;
}

}  // namespace

Pass ordinary_pass(const ProductPlan& plan) {
  Pass pass;
  pass.blocking = plan.ordinary;
  set_digits(pass, plan.rule.largest_exponent);
  return pass;
}

Pass lean_pass(const ProductPlan& plan, const LeanScales& scales) {
  Pass pass;
  pass.lean = scales;
  pass.blocking =
      choose_blocking(plan.shape, LeanProduct::moduli, plan.printable.threads, *plan.engine, plan.pass_bytes);
  set_digits(pass, scales.rule.largest_exponent);
  return pass;
}

// No entry is wide, so that update() writes all entries of a block.
Pass open_pass(const ProductPlan& plan, const LeanScales& scales) {
  Pass pass = ordinary_pass(plan);
  pass.lean = scales;
  pass.lean->certain = std::numeric_limits<double>::infinity();
  pass.every_entry = false;
  pass.open_only = true;
  return pass;
}

PassList plan_passes(const ProductPlan& plan, const Scaling& scaling) {
  PassList list;
  if (scaling.any_ordinary) list.pass[list.count++] = ordinary_pass(plan);
  if (scaling.any_wide) {
    const int moduli = moduli_for(scaling.wide_log2);
    list.beyond_scheme = moduli == 0 || scaling.wide_exponent > largest_exponent(max_limbs);
    if (!list.beyond_scheme) {
      Pass& pass = list.pass[list.count++];
      pass.ordinary = false;
      set_digits(pass, scaling.wide_exponent);
      pass.blocking = choose_blocking(plan.shape, moduli, plan.printable.threads, *plan.engine, plan.pass_bytes);
    }
  }
  for (int i = 0; i < list.count; ++i) list.pass[i].every_entry = list.count == 1;
  list.native = list.beyond_scheme;
  const bool may_be_native = plan.native_keeps_contract && plan.printable.contract.fallback == Fallback::native;
  if (!list.native && !plan.forced && scaling.any_wide && may_be_native) {
    double seconds = 0;
    for (int i = 0; i < list.count; ++i) {
      ProductShape shape = plan.shape;
      if (!list.pass[i].ordinary &&
          scaling.any_ordinary)  // wide rows against all columns, wide columns against all rows
        shape.m = std::min(shape.m, scaling.wide_rows + divide_up(scaling.wide_columns * shape.m, shape.n));
      seconds += residue_seconds(plan.engine->name(), shape, list.pass[i].blocking.moduli, plan.printable.threads);
    }
    list.native = seconds > native_seconds(plan.shape, plan.single_precision, plan.printable.threads);
  }
  return list;
}

template std::size_t workspace_bytes<double>(const ProductShape&, const Options&, bool);
template std::size_t workspace_bytes<float>(const ProductShape&, const Options&, bool);
template bool plan_small_product<double>(const ProductShape&, const Options&, Plan&);
template bool plan_small_product<float>(const ProductShape&, const Options&, Plan&);
template ProductPlan plan_product<double>(const ProductShape&, const Options&, bool);
template ProductPlan plan_product<float>(const ProductShape&, const Options&, bool);

}  // namespace vernier
