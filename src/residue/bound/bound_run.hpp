// The product of |A| and |B| of one product on a workspace and a stream, from the statistics to the scales.
#pragma once

#include "product/operand_blocks.hpp"
#include "residue/bound/bound_kernels.hpp"
#include "residue/convert/convert.hpp"
#include "residue/plan/plan_cuda.hpp"

namespace vernier::cuda {

template <class T>
class DeviceBoundRun {
 public:
  // arena: of the planes, which are not needed meanwhile.
  DeviceBoundRun(const DeviceProductPlan& plan, const Operand<T>& a, const Operand<T>& b,
                 const DeviceVectorBuffers& vectors, cudaStream_t stream, Arena arena)
      : plan_(plan),
        a_{.x = a, .statistics = vectors.a_statistics, .scales = vectors.a_scales},
        b_{.x = b, .statistics = vectors.b_statistics, .scales = vectors.b_scales},
        stream_(stream),
        buffers_(carve_device_bound(arena, plan.shape)) {
    write_bytes_with(a_, b_);
  }

  // The kernel that measures these operands writes the bytes of the product, too.
  void write_bytes_with(DeviceOperand<T>& a, DeviceOperand<T>& b) const {
    a.bound_bytes = buffers_.a_bytes;
    b.bound_bytes = buffers_.b_bytes;
  }

  // Everything, behind a gate: the host need not know yet whether it is wanted.
  void queue(bool bytes_are_there, const Gate& gate) const {
    if (!bytes_are_there) bound_bytes_on_device(a_, b_, stream_, gate);
    const ProductShape& s = plan_.shape;
    const BoundTask task{
        .rule = *plan_.bound,
        .product = fp8_bound_product(),
        .k = s.k,
        .operand = {{a_.statistics, s.m, buffers_.a, a_.scales}, {b_.statistics, s.n, buffers_.b, b_.scales}},
        .codes = buffers_.codes,
        .found = buffers_.found,
        .choices = bound_choices(plan_.most_bound_moduli),
        .gate = gate};
    weigh_on_device(task, stream_);
    multiply_bound_on_device({.rows = buffers_.a_bytes,
                              .columns = buffers_.b_bytes,
                              .m = s.m,
                              .n = s.n,
                              .pitch = device_pitch(s.k),
                              .row = buffers_.a.side,
                              .column = buffers_.b.side,
                              .codes = buffers_.codes,
                              .gate = gate},
                             stream_);
    choose_bound_scales_on_device(task, stream_);
  }

  // What came of it; the host waits.
  BoundFindings findings(Report& report) const {
    const BoundFindings found = on_host(buffers_.found, 1, stream_)[0];
    report.span_a = found.span[0];
    report.span_b = found.span[1];
    report.nonfinite_rows = found.nonfinite[0];
    report.nonfinite_columns = found.nonfinite[1];
    return found;
  }

 private:
  const DeviceProductPlan& plan_;
  DeviceOperand<T> a_, b_;
  cudaStream_t stream_;
  DeviceBoundBuffers buffers_;
};

}  // namespace vernier::cuda
