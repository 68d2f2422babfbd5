// A product's operands, and what the kernels of the bound product work on, on Hopper.
#pragma once

#include <string>
#include <vector>

#include "engine/bound/bound_engine_cuda.hpp"
#include "gpu/fixture.hpp"
#include "product/arguments.hpp"
#include "residue/bound/bound_kernels.hpp"
#include "residue/bound/bound_sample_host.hpp"
#include "residue/bound_twin.hpp"
#include "residue/convert/convert.hpp"
#include "residue/plan/bounds.hpp"
#include "support/bound.hpp"

namespace vernier::test {

template <class V>
std::vector<V> fetched(const V* device, std::int64_t count) {
  std::vector<V> copy(static_cast<std::size_t>(count));
  cuda::check(cudaMemcpy(copy.data(), device, copy.size() * sizeof(V), cudaMemcpyDeviceToHost), "fetched");
  return copy;
}

template <class T>
struct BoundCase {
  Matrix<T> a, b;
  std::vector<BoundTwinVector<T>> rows, columns;
  DeviceCopy<T> device_a, device_b;
  cuda::DeviceBuffer<VectorStatistics> a_statistics, b_statistics;
  cuda::DeviceBuffer<int> a_scales, b_scales;
  cuda::DeviceBuffer<std::byte> memory;
  cuda::DeviceBoundBuffers buffers;
  cuda::BoundTask task;

  BoundCase(const std::string& family, std::int64_t m, std::int64_t n, std::int64_t k)
      : BoundCase(make_operands<T>(family, m, n, k, 5)) {}
  explicit BoundCase(const Operands<T>& x)
      : a(x.a),
        b(x.b),
        rows(bound_twin_rows(a)),
        columns(bound_twin_columns(b)),
        device_a(a),
        device_b(b),
        a_statistics(rows.size()),
        b_statistics(columns.size()),
        a_scales(rows.size()),
        b_scales(columns.size()),
        memory(bytes()) {
    cuda::check(cudaMemset(memory.data(), 0x7b, memory.bytes()), "poison");
    Arena arena(memory.data(), memory.bytes());
    buffers = cuda::carve_device_bound(arena, shape());
    task = {.rule = *bound_rule<T>(Contract::fp64(), a.columns(), a.columns()),
            .product = cuda::fp8_bound_product(),
            .k = a.columns(),
            .operand = {{a_statistics.data(), a.rows(), buffers.side.a, a_scales.data()},
                        {b_statistics.data(), b.columns(), buffers.side.b, b_scales.data()}},
            .codes = buffers.codes,
            .found = buffers.found,
            .choices = cuda::bound_choices(max_moduli),
            .sample = buffers.sample};
  }
  BoundSample host_sample() const {
    const auto x = bound_sampled_vectors(0, rows_of(Op::none, a.data(), a.rows(), a.columns(), a.ld()));
    const auto y = bound_sampled_vectors(1, columns_of(Op::none, b.data(), b.columns(), b.rows(), b.ld()));
    return bound_sample(x, statistics_of(x), y, statistics_of(y), a.columns(), 1);
  }
  void sample() {
    cuda::clear_sample_on_device(task.sample, nullptr);
    cuda::sample_on_device(operand_a().x, operand_b().x, task, nullptr);
  }
  cuda::BoundSampleWords sample_words() const { return fetched(buffers.sample.words, 1)[0]; }

  ProductShape shape() const { return {a.rows(), b.columns(), a.columns()}; }
  std::size_t bytes() const {
    Arena count;
    cuda::carve_device_bound(count, shape());
    return count.used();
  }
  cuda::DeviceOperand<T> operand_a() {
    return {.x = rows_of(Op::none, static_cast<const T*>(device_a.data()), a.rows(), a.columns(), a.ld()),
            .statistics = a_statistics.data(),
            .scales = a_scales.data(),
            .bound_bytes = buffers.side.a.bytes};
  }
  cuda::DeviceOperand<T> operand_b() {
    return {.x = columns_of(Op::none, static_cast<const T*>(device_b.data()), b.columns(), b.rows(), b.ld()),
            .statistics = b_statistics.data(),
            .scales = b_scales.data(),
            .bound_bytes = buffers.side.b.bytes};
  }
  void measure() {
    cuda::measure_on_device<T>(operand_a(), operand_b(), scaling_rule<T>(Contract::fp64(), a.columns()),
                               {.moduli = 15, .words = 2}, {}, nullptr);
  }
  void multiply() {
    cuda::multiply_bound_on_device({.rows = buffers.side.a.bytes,
                                    .columns = buffers.side.b.bytes,
                                    .m = a.rows(),
                                    .n = b.columns(),
                                    .pitch = device_pitch(a.columns()),
                                    .k = device_pitch(a.columns()),
                                    .row = buffers.side.a.side,
                                    .column = buffers.side.b.side,
                                    .codes = buffers.codes},
                                   nullptr);
  }
};

}  // namespace vernier::test
