// LU factors in the memory of a GPU, as the solver takes them.
#pragma once

#include <memory>

#include "lapack/solve/factors.hpp"
#include "lapack/solve/system_cuda.hpp"
#include "lapack/triangle/triangles.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

// `precision` is not automatic. Options are those of the products, their stream that of the system. fp32
// factors take system.floats for their own where it holds what they need.
template <class T>
std::unique_ptr<LuFactors> factorise_on_device(DeviceSystem<T>& system, Factors precision, const Options& options);

// As factorise_on_device, of a symmetric positive definite system in fp32 or fp64.
template <class T>
std::unique_ptr<LuFactors> factorise_definite_on_device(DeviceSystem<T>& system, Factors precision,
                                                        const Options& options);

// op(A) out = in for `count` vectors of double in device memory, lu.rows from each other and zero from n on. work: as
// much again.
template <class T>
void solve_with_device_lu(const DeviceLu<T>& lu, const DeviceTriangles<T>& triangles, Op op, std::int64_t count,
                          const double* in, double* out, double* work, cudaStream_t stream);

// The same with the factor of cholesky.hpp.
template <class T>
void solve_with_device_cholesky(const DeviceTriangles<T>& triangles, std::int64_t count, const double* in, double* out,
                                double* work);

}  // namespace vernier::cuda
