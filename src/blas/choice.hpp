// Which way a real product on a GPU goes: by split matrices, by residues or natively.
#pragma once

#include <optional>

#include "product/call.hpp"
#include "residue/choice.hpp"
#include "split/gemm.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

// Contract fp32 by products of split matrices, where they are faster than cuBLAS and the workspace holds them. They
// beat residues wherever they beat cuBLAS, and keep the contract for any data.
template <class T>
std::optional<SplitGemmPlan> split_plan_of(const ProductShape& shape, const Options& options,
                                           std::int64_t products = 1);

// Is a batch so much faster by split matrices than in cuBLAS that the host may wait for its addresses?
template <class T>
bool addresses_are_worth_a_wait(const ProductShape& shape, const Options& options, std::int64_t products);

// What a person reads, without the workspace that residues would ask for where they are not taken.
template <class T>
Plan describe_choice(const std::optional<SplitGemmPlan>& split, const ProductShape& shape, const Options& options);

// Are these products native, whatever the workspace? Then the plan says so.
template <class T>
bool surely_native(const ProductShape& shape, const Options& options, Plan& plan);

// In its life, which is that of one gemm, no cuBLAS but a lent one, for some quarters of C or half of a symmetric C, is
// called for data that are too wide: check() throws bound_not_met.
class LeftFallbacks {
 public:
  LeftFallbacks() { left = true; }
  ~LeftFallbacks() { left = false; }
  LeftFallbacks(const LeftFallbacks&) = delete;
  LeftFallbacks& operator=(const LeftFallbacks&) = delete;
  static void check();
  static bool asked() { return left; }

 private:
  inline static thread_local bool left = false;
};

// By cuBLAS, as if A and B were not read where alpha is 0.
template <class T>
void native_gemm(const DeviceGemmCall<T>& call, const Options& options);

// By products of split matrices where they are faster than cuBLAS's batches, or by those where single products would
// be native. False, and nothing is done, where the products go one by one.
template <class T>
bool gemm_at_once(const StridedBatch<T>& batch, const Options& options, Report& report);

// By cuBLAS, where single products would be native and it does not pay to wait for the addresses. False, and nothing is
// done, elsewhere.
template <class T>
bool gemm_addressed_natively(const AddressedBatch<T>& batch, const Options& options, Report& report);

}  // namespace vernier::cuda
