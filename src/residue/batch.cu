#include "residue/gemm_cuda.hpp"

#include <algorithm>

#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "residue/chain.hpp"
#include "residue/choice.hpp"
#include "residue/regularity.hpp"

namespace vernier::cuda {
namespace {

constexpr std::int64_t most_products = 65535;                     // of a grid's second direction
constexpr std::size_t most_batch_bytes = std::size_t{1} << 30;    // beyond, a launch is long anyway
constexpr std::size_t small_batch_bytes = std::size_t{64} << 20;  // nobody asks what is free

// One group of products: vectors and planes of all of them.
struct BatchBuffers {
  DeviceVectorBuffers vectors;
  DevicePass pass;
  DevicePassBuffers planes;
};

BatchBuffers carve(Arena& arena, const DeviceProductPlan& plan, std::int64_t products) {
  const ProductShape& s = plan.shape;
  BatchBuffers b{.vectors = carve_device_vectors(arena, {products * s.m, products * s.n, s.k}, VectorUse::measured),
                 .pass = ordinary_device_pass(plan)};
  b.pass.blocking.form.products = static_cast<int>(products);
  b.planes = carve_device_pass(arena, b.pass.blocking, plan.limits);
  return b;
}

std::size_t batch_bytes(const DeviceProductPlan& plan, std::int64_t products) {
  Arena count;
  carve(count, plan, products);
  return count.used();
}

template <class T>
DeviceProductPlan plan_of_one(const StridedBatch<T>& p, const Options& options) {
  return plan_of<T>(p.first.shape(), options, true);
}

}  // namespace

template <class T>
std::int64_t residue_batch_size(const StridedBatch<T>& p, const Options& options) {
  const CaptureTolerance tolerance;
  if (!reads_operands(p.first, options) || p.count < 2 || p.stride_c == 0 || without_host(options)) return 0;
  const DeviceProductPlan plan = plan_of_one(p, options);
  if (!plan.residues || plan.exact || plan.ordinary.form.strassen || !plan.ordinary.whole(plan.shape)) return 0;
  const bool limited = options.workspace != nullptr || options.workspace_limit != 0;
  const std::size_t wanted = std::min(batch_bytes(plan, p.count), most_batch_bytes),
                    room = limited                       ? workspace_limit(wanted, options)
                           : wanted <= small_batch_bytes ? wanted
                                                         : available_device_memory() / 2;
  const auto products = std::min(
      {p.count, most_products, static_cast<std::int64_t>(std::min(room, most_batch_bytes) / batch_bytes(plan, 1))});
  return products < 2 ? 0 : products;
}

template <class T>
bool residue_batch(const StridedBatch<T>& p, const Options& options, Report& report) {
  const CaptureTolerance tolerance;
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const DeviceProductPlan plan = plan_of_one(p, options);
  RegularityQuestion words(stream, plan.by_sqrt_rule);
  if (!words.was_regular()) return false;  // residues would likely be made in vain
  const DeviceInt8Engine& engine = int8_engine(options);
  const DeviceWorkspace workspace(batch_bytes(plan, p.count), stream, options.workspace);
  report.plan = plan.printable;  // before C is written: nothing may fail then
  report.plan.workspace = workspace.bytes();
  Arena arena = workspace.arena();
  const BatchBuffers buffers = carve(arena, plan, p.count);
  const Regularity regularity = words.regularity();
  const DeviceResidueProblem<T> problem = problem_of(p.first, options.pointer_mode);
  const ResidueChain<T> chain(
      engine, problem,
      {.vectors = buffers.vectors, .product_stride = {p.stride_a, p.stride_b}, .product_stride_c = p.stride_c}, stream);
  const ChainPass pass{.pass = buffers.pass,
                       .buffers = buffers.planes,
                       .scales = {buffers.vectors.a.scales, buffers.vectors.b.scales},
                       .products = {regularity.is_irregular},
                       .recombination = {regularity.is_irregular},
                       .converted = true};
  const Sides<DeviceOperand<T>> x = chain.operands({buffers.planes.a, buffers.planes.b});
  measure_on_device<T>(x.a, x.b, plan.rule, chain.form(pass.pass), regularity, stream);
  chain.run(pass);
  return words.wait();
}

VERNIER_REAL_INSTANCES(residue_batch_size, residue_batch)

}  // namespace vernier::cuda
