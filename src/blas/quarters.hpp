// Large products that fall back for their data, by quarters of C: where elements decay from a diagonal, no powers of
// two balance all of k for all of C (residue/bound/balance.hpp), but some do for the quarters beside the diagonal.
#pragma once

#include <new>

#include "base/fmt.hpp"
#include "cuda/cublas.hpp"
#include "residue/choice.hpp"
#include "residue/regularity.hpp"

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

// multiply(part of the call, its number from 1 on, its report); false: nothing is done.
template <class T, class Multiply>
bool multiply_quarters(const DeviceGemmCall<T>& call, const Options& options, Report& report, Multiply multiply) {
  if (!has_quarters(call, options)) return false;
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const bool waits = !without_host(options);
  if (!waits && (call.k > longest_resident_k || options.outcome != nullptr)) return false;  // no copies; one outcome
  const DeviceProductPlan plan = plan_of<T>(call.shape(), options, true);
  if (waits ? !takes_quarters(stream, plan) : !takes_quarters_on_any_stream(plan)) return false;
  thread_cublas();                    // fails before C is written to
  constexpr std::int64_t unit = 256;  // of tiles
  const std::int64_t rows = divide_up(call.m, 2 * unit) * unit, columns = divide_up(call.n, 2 * unit) * unit;
  int taken = 0, number = 0;
  for (const std::int64_t i : {std::int64_t{0}, rows})
    for (const std::int64_t j : {std::int64_t{0}, columns}) {
      DeviceGemmCall<T> part = call;
      part.m = i == 0 ? rows : call.m - rows;
      part.n = j == 0 ? columns : call.n - columns;
      part.a += call.opa == Op::none ? i : i * call.lda;
      part.b += call.opb == Op::none ? j * call.ldb : j;
      part.c += i + j * call.ldc;
      Report found;
      multiply(part, ++number, found);
      const bool by_residues = found.plan.scheme != native_name;
      taken += by_residues ? 1 : 0;
      if (number == 1 || by_residues) report = std::move(found);
    }
  if (waits) took_quarters(stream, plan, taken);
  report.plan.m = call.m, report.plan.n = call.n;
  try {
    report.plan.reason += fmt::format("; by quarters of C, {} of 4 by residues", taken);
  } catch (const std::bad_alloc&) {  // C is written
  }
  return true;
}

}  // namespace vernier::cuda
