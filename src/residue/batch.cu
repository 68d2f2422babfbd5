#include "residue/batch.hpp"

#include <algorithm>

#include "cuda/device.hpp"
#include "engine/summed_planes.hpp"
#include "product/arguments.hpp"
#include "residue/choice.hpp"
#include "residue/convert/convert.hpp"
#include "residue/gemm_cuda.hpp"
#include "residue/recombine/recombine_cuda.hpp"
#include "residue/regularity.hpp"
#include "residue/residues.hpp"

namespace vernier::cuda {
namespace {

constexpr std::int64_t most_products = 65535;                     // of a grid's second direction
constexpr std::size_t most_batch_bytes = std::size_t{1} << 30;    // beyond, a launch is long anyway
constexpr std::size_t small_batch_bytes = std::size_t{64} << 20;  // nobody asks what is free

// One group of products: vectors and planes of all of them.
struct BatchBuffers {
  VectorStatistics *a_statistics = nullptr, *b_statistics = nullptr;
  int *a_scales = nullptr, *b_scales = nullptr;
  std::uint8_t *a = nullptr, *b = nullptr;
  std::int8_t* c = nullptr;
  std::int32_t* sums = nullptr;
};

BatchBuffers carve(Arena& arena, const DeviceProductPlan& plan, std::int64_t products) {
  const ProductShape& s = plan.shape;
  const auto m = static_cast<std::size_t>(products * s.m), n = static_cast<std::size_t>(products * s.n);
  const auto moduli = static_cast<std::size_t>(plan.ordinary.moduli),
             pitch = static_cast<std::size_t>(device_pitch(s.k));
  BatchBuffers b;
  b.a_statistics = arena.take<VectorStatistics>(m);
  b.b_statistics = arena.take<VectorStatistics>(n);
  b.a_scales = arena.take<int>(m);
  b.b_scales = arena.take<int>(n);
  b.a = arena.take<std::uint8_t>(moduli * m * pitch);
  b.b = arena.take<std::uint8_t>(moduli * n * pitch);
  b.c = arena.take<std::int8_t>(moduli * static_cast<std::size_t>(products * product_units(s.m, s.n).plane_bytes()));
  if (plan.limits.int32_sums)
    b.sums = arena.take<std::int32_t>(static_cast<std::size_t>(sums_count(s.m, s.n, products * plan.ordinary.moduli)));
  return b;
}

std::size_t batch_bytes(const DeviceProductPlan& plan, std::int64_t products) {
  Arena count;
  carve(count, plan, products);
  return count.used();
}

template <class T>
DeviceProductPlan plan_of_one(const StridedBatch<T>& p, const Options& options) {
  return plan_of<T>({p.m, p.n, p.k}, options, true);
}

}  // namespace

template <class T>
std::int64_t residue_batch_size(const StridedBatch<T>& p, const Options& options) {
  const CaptureTolerance tolerance;
  const bool reads = p.m > 0 && p.n > 0 && p.k > 0 && (options.pointer_mode == PointerMode::device || *p.alpha != T{0});
  if (p.count < 2 || p.stride_c == 0 || !reads || without_host(options)) return 0;
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
  RegularityMailbox words(stream, plan.by_sqrt_rule);
  if (!words.was_regular()) return false;  // residues would likely be made in vain
  const DeviceInt8Engine& engine = int8_engine(options);
  const DeviceWorkspace workspace(batch_bytes(plan, p.count), stream, options.workspace);
  report.plan = plan.printable;  // before C is written: nothing may fail then
  report.plan.workspace = workspace.bytes();
  Arena arena = workspace.arena();
  const BatchBuffers buffers = carve(arena, plan, p.count);
  const Regularity regularity = words.regularity();
  const Gate regular{regularity.is_irregular};
  const auto products = static_cast<int>(p.count);
  const Operand<T> a = rows_of(p.opa, p.A, p.m, p.k, p.lda), b = columns_of(p.opb, p.B, p.n, p.k, p.ldb);
  measure_on_device<T>({a, buffers.a_statistics, buffers.a_scales, buffers.a, p.stride_a},
                       {b, buffers.b_statistics, buffers.b_scales, buffers.b, p.stride_b}, plan.rule,
                       {.moduli = plan.ordinary.moduli,
                        .words = ordinary_words(plan.rule),
                        .form = engine.form(),
                        .clusters = engine.takes_clusters(),
                        .products = products},
                       regularity, stream);
  engine.multiply({.rows = buffers.a,
                   .columns = buffers.b,
                   .m = p.m,
                   .n = p.n,
                   .pitch = device_pitch(p.k),
                   .moduli = plan.ordinary.moduli,
                   .products = products,
                   .factor = residue_system(plan.ordinary.moduli).row_factor,
                   .out = buffers.c,
                   .gate = regular,
                   .scratch = buffers.sums},
                  stream);
  recombine_on_device<T>({.moduli = plan.ordinary.moduli,
                          .residues = buffers.c,
                          .plane_stride = p.count * product_units(p.m, p.n).plane_bytes(),
                          .m = p.m,
                          .n = p.n,
                          .row_scales = buffers.a_scales,
                          .column_scales = buffers.b_scales,
                          .alpha = factor(p.alpha, options.pointer_mode),
                          .beta = factor(p.beta, options.pointer_mode),
                          .c = p.C,
                          .ldc = p.ldc,
                          .products = products,
                          .product_stride_c = p.stride_c,
                          .gate = regular,
                          .a = a,
                          .b = b},
                         stream);
  return words.wait();
}

template std::int64_t residue_batch_size(const StridedBatch<double>&, const Options&);
template std::int64_t residue_batch_size(const StridedBatch<float>&, const Options&);
template bool residue_batch(const StridedBatch<double>&, const Options&, Report&);
template bool residue_batch(const StridedBatch<float>&, const Options&, Report&);

}  // namespace vernier::cuda
