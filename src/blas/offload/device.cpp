#include "blas/offload/device.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string_view>
#include <type_traits>

#include "base/asked_device.hpp"
#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "blas/cpu_seconds.hpp"
#include "blas/offload/offload.hpp"
#include "product/plan/class_table.hpp"
#include "product/plan/observed_times.hpp"
#include "residue/plan/cost_cuda.hpp"
#include "split/cost.hpp"
#include "vernier/cuda.hpp"

namespace vernier {
namespace {

// A GPU is woken where a product, or all so far together, take so many seconds; for one that takes long it is waited.
constexpr double worth_alone = 5e-3, worth_together = 0.5, worth_waiting = 3;

// The first piece up and the last one down, which nothing overlaps, with the threads' start.
constexpr double start_seconds = 4e-4;

using Places = ClassTable<PlaceHistory>;

int all_threads(const Options& options) {
  return std::max(usable_threads(options.threads), usable_threads(omp_get_max_threads()));
}

// Of the processors, of all threads' copies and of the GPU: where a call has some of the threads, as in a parallel
// region, calls beside it have the others. A processor among busy ones, or one link among many, is not one alone.
double share_of(const Options& options) {
  return usable_threads(options.threads) / static_cast<double>(all_threads(options));
}

template <class T>
double gpu_seconds(const ProductShape& shape, const Options& options) {
  using R = RealType<T>;
  const ProductShape s = real_shape<T>(shape);
  const Contract& c = options.contract;
  const double residues = device_residue_seconds(s, ordinary_moduli<R>(c, s.k));
  if (c.reproducible || c.kind == Contract::Kind::exact) return residues;
  const double native = device_native_seconds(s, std::is_same_v<R, float>);
  const bool split = std::is_same_v<R, float> && c.kind == Contract::Kind::fp32;
  return std::min({residues, native, split ? split_gemm_seconds(s.m, s.n, s.k) : native});
}

bool is_worth_waking(double on_cpu) {
  static std::atomic<bool> woken = false;
  static std::atomic<double> so_far = 0;
  if (woken) return true;
  if (on_cpu < worth_alone && so_far.fetch_add(on_cpu) + on_cpu < worth_together) return false;
  woken = true;
  return true;
}

// Null: the CPU is to take what takes it so long, for now or, if that is brief, for good.
const HostLink* link_for(double on_cpu, const Options& options) {
  if (asked_device(options) != Device::automatic) return &measured_link();
  if (on_cpu <= start_seconds || !is_worth_waking(on_cpu)) return nullptr;
  return on_cpu < worth_waiting ? link_if_awake() : &measured_link();
}

bool may_leave_the_cpu(const Options& options) {
  return options.workspace == nullptr && requested_engine(options.engine).empty();
}

// Threads that copy serve both ways, so that these do not overlap; products overlap with copies but for the last
// blocks.
double beside_copies(double copies, double product, std::int64_t m) {
  const double blocks = std::max(1.0, static_cast<double>(m) / static_cast<double>(offload::preferred_block(m)));
  return std::max(copies, product) + std::min(copies, product) / blocks;
}

std::string milliseconds(double seconds) { return fmt::format("{:.3g} ms", seconds * 1e3); }

}  // namespace

template <class T>
double cpu_estimate(const ProductShape& shape, const Options& options) {
  const int threads = all_threads(options);
  const Contract& c = options.contract;
  const double residues = cpu_residue_seconds<T>(shape, c, threads) / share_of(options);
  if (c.reproducible || c.kind == Contract::Kind::exact) return residues;
  return std::min(residues, cpu_native_seconds<T>(shape, threads) / share_of(options));
}

bool asks_for_a_gpu(const Options& options) {
  return asked_device(options) != Device::cpu && may_leave_the_cpu(options);
}

bool leaves_the_choice(const Options& options) {
  return asked_device(options) == Device::automatic && may_leave_the_cpu(options);
}

template <class T>
bool stays_on_the_cpu(const ProductShape& shape, const Options& options) {
  constexpr double most = 4e6;
  return real_shape<T>(shape).multiplications() < most && leaves_the_choice(options);
}

HostLink host_link() { return measured_link(); }

OffloadEstimate estimate_offload(const ProductShape& s, std::size_t element, bool reads_c, double product_seconds,
                                 double cpu_seconds, const CopyRates& link) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double size = static_cast<double>(element);
  OffloadEstimate e;
  e.up = size * (m * k + k * n + (reads_c ? m * n : 0)) / link.up;
  e.down = size * m * n / link.down;
  e.product = product_seconds;
  e.cpu = cpu_seconds;
  e.gpu = beside_copies(e.up + e.down, e.product, s.m) + start_seconds;
  return e;
}

template <class T>
double shared_product_seconds(const offload::Staged& copies, std::int64_t k, const Contract& contract) {
  const HostLink& link = measured_link();
  const double seconds = static_cast<double>(copies.up) / link.up + static_cast<double>(copies.down) / link.down;
  return beside_copies(seconds, gpu_seconds<T>({copies.m, copies.n, k}, {.contract = contract}), copies.m);
}

OffloadEstimate estimate_routine(const RoutineWork& work, double product_seconds, double cpu_seconds,
                                 const CopyRates& link) {
  OffloadEstimate e;
  e.up = static_cast<double>(work.up) / link.up;
  e.down = 2 * static_cast<double>(work.down) / link.down;  // and to the output, once all of it has come
  e.product = work.share * product_seconds + work.panels;
  e.cpu = work.share * cpu_seconds;
  e.gpu = e.up + e.product + e.down + start_seconds;
  return e;
}

Place choose_place(const PlacedClass& product) {
  const PlaceEstimate& e = product.estimate;
  if (!observes()) return PlaceHistory{}.choose(e);
  return Places::instance().with(product.key, [&](const PlaceHistory& known) { return known.choose(e); });
}

Place expected_place(const PlacedClass& product) {
  const PlaceEstimate& e = product.estimate;
  if (!observes()) return PlaceHistory{}.expected(e);
  return Places::instance().with(product.key, [&](const PlaceHistory& known) { return known.expected(e); });
}

void forget_places() { Places::instance().clear(); }

namespace {

// A thread's first calls on a GPU pay for its handle and its streams. Programs that end threads are observed after all.
bool pays_for_a_start() {
  constexpr int calls_of_a_thread = 2, most_calls = 200;
  static std::atomic<int> calls = 0;
  thread_local int own = 0;
  return own < calls_of_a_thread && ++own > 0 && calls.fetch_add(1) < most_calls;
}

}  // namespace

void Placement::took(double seconds) const noexcept {
  if (!chosen || !observes() || (on_gpu && pays_for_a_start())) return;
  const bool settled = on_gpu || looks == looks_so_far;
  Places::instance().with(chosen->key, [&](PlaceHistory& known) {
    known.took(chosen->estimate, on_gpu ? Place::gpu : Place::cpu, seconds, settled);
  });
}

namespace {

constexpr std::string_view routines[] = {"gemm",  "gemmt", "symm", "hemm",  "syrk",  "herk", "syr2k",
                                         "her2k", "trmm",  "trsm", "getrf", "potrf", "solve"};

// Routines are told apart, and products under one contract from those under another.
template <class T>
PlacedClass placed_class(const char* routine, const ProductShape& shape, const OffloadEstimate& e,
                         const Options& options) {
  const Contract& c = options.contract;
  const auto number = static_cast<int>(std::find(std::begin(routines), std::end(routines), routine) - routines);
  const int contract = static_cast<int>(c.kind) * 2 + (c.reproducible ? 1 : 0);
  const ProductClass product{element_type<T>, shape, usable_threads(options.threads), ProductForm::placed,
                             number * 64 + contract};
  return {key_of(product), {.cpu = e.cpu, .gpu = e.gpu}};
}

// What the CPU and a GPU would take, by estimate(product, cpu, link); nothing where there is no GPU to be taken.
template <class T, class Estimate>
std::optional<OffloadEstimate> estimate_both(const ProductShape& shape, const Options& options,
                                             const Estimate& estimate) {
  if (shape.empty() || is_small_product(shape) || !asks_for_a_gpu(options)) return {};
  most_gpu_memory();  // a wrong value is told before any work
  if (stays_on_the_cpu<T>(shape, options)) return {};
  const double on_cpu = cpu_estimate<T>(shape, options);
  const HostLink* link = link_for(on_cpu, options);
  if (link == nullptr || link->devices == 0) return {};
  const double share = share_of(options);
  return estimate(gpu_seconds<T>(shape, options) / share, on_cpu, CopyRates{share * link->up, share * link->down});
}

template <class T>
std::optional<OffloadEstimate> estimate_product(const ProductShape& shape, bool reads_c, const Options& options) {
  const auto estimate = [&](double product, double cpu, const CopyRates& link) {
    return estimate_offload(shape, sizeof(T), reads_c, product, cpu, link);
  };
  return estimate_both<T>(shape, options, estimate);
}

// Nothing where the GPU at hand does not have this contract.
template <class T>
std::optional<Plan> describe_offload(const ProductShape& shape, const OffloadEstimate& e, const Options& options) {
  Plan plan;
  try {
    plan = cuda::explain<T>(Op::none, Op::none, shape.m, shape.n, shape.k, {.contract = options.contract});
  } catch (const Error&) {
    return {};
  }
  if (plan.scheme == "native") plan.scheme = "cublas";
  plan.reason += fmt::format("; matrices of the host: {} up, {} down, {} of products on {}, {} in all; {} on the CPU",
                             milliseconds(e.up), milliseconds(e.down), milliseconds(e.product), measured_link().name,
                             milliseconds(e.gpu), milliseconds(e.cpu));
  return plan;
}

template <class T>
Placement place(const char* routine, const ProductShape& shape, const std::optional<OffloadEstimate>& e,
                const Options& options) {
  Placement placement;
  if (!e) return placement;
  const bool free = leaves_the_choice(options);
  const PlacedClass product = placed_class<T>(routine, shape, *e, options);
  if (!free || choose_place(product) == Place::gpu) placement.on_gpu = describe_offload<T>(shape, *e, options);
  if (free) placement.chosen = product, placement.looks = looks_so_far;
  return placement;
}

}  // namespace

template <class T>
Placement place_product(const ProductShape& shape, bool reads_c, const Options& options) {
  return place<T>("gemm", shape, estimate_product<T>(shape, reads_c, options), options);
}

namespace {

// It is not known yet where such products go: not to be passed on to the BLAS underneath for good.
template <class T>
Plan while_waking(const ProductShape& shape, const Options& options) {
  Options on_cpu = options;
  on_cpu.device = Device::cpu;
  Plan plan = explain<T>(Op::none, Op::none, shape.m, shape.n, shape.k, on_cpu);
  if (plan.scheme == "native") plan.scheme = plan.engine = "cublas";
  plan.reason += "; the CPU multiplies until a GPU is awake";
  return plan;
}

}  // namespace

template <class T>
std::optional<Plan> explain_offload(const ProductShape& shape, const Options& options) {
  if (shape.empty() || is_small_product(shape) || stays_on_the_cpu<T>(shape, options)) return {};
  const bool free = leaves_the_choice(options);
  if (free) {
    const double on_cpu = cpu_estimate<T>(shape, options);
    if (on_cpu > start_seconds && link_for(on_cpu, options) == nullptr) return while_waking<T>(shape, options);
  }
  const std::optional<OffloadEstimate> e = estimate_product<T>(shape, false, options);
  if (!e) return {};
  if (free && expected_place(placed_class<T>("gemm", shape, *e, options)) == Place::cpu) return {};
  return describe_offload<T>(shape, *e, options);
}

template <class T>
Placement place_routine(const RoutineWork& work, const Options& options) {
  const auto estimate = [&](double product, double cpu, const CopyRates& link) {
    return estimate_routine(work, product, cpu, link);
  };
  return place<T>(work.name, work.shape, estimate_both<T>(work.shape, options, estimate), options);
}

std::string why_not_on_a_gpu(const Options& options) {
  if (asked_device(options) != Device::cuda) return "";
  if (!may_leave_the_cpu(options)) return "; on the CPU: its engine or workspace was named";
  const HostLink& link = measured_link();
  return "; on the CPU: " + (link.devices == 0 ? link.missing : link.name + " does not have this contract");
}

VERNIER_TYPE_INSTANCES(shared_product_seconds, cpu_estimate, stays_on_the_cpu, place_product, explain_offload,
                       place_routine)

}  // namespace vernier
