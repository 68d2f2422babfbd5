// The decisions about one product on a CPU: bf16x6, residues or the native product, with which engine and workspace.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>

#include "bf16x6/blocking.hpp"
#include "product/call.hpp"
#include "product/native/native.hpp"
#include "product/plan/method.hpp"
#include "product/plan/observed_times.hpp"
#include "residue/plan/plan.hpp"

namespace vernier {

// fp32 products of bf16 parts, tried first where there are any: data that they do not hold go the way that the rest
// of the plan says.
struct Bf16x6Choice {
  const Bf16x6Engine* engine = nullptr;
  Bf16x6Blocking blocking;
  Plan printable;
};

struct ProductPlan : ResiduePlan {
  std::optional<Bf16x6Choice> bf16x6;
  bool by_estimate = false;  // nobody asked for the method: what it takes is of interest to later products
  Rivals rivals;             // of the choice by estimate
};

// Of products by estimate: which of them take as long as one another.
template <class T>
ProductClass class_of(const ProductPlan& plan, int data = 0) {
  constexpr bool single = std::is_same_v<T, float>;
  return {plan.doubled ? (single ? ElementType::single_complex : ElementType::double_complex)
                       : (single ? ElementType::single_real : ElementType::double_real),
          plan.shape, plan.printable.threads, ProductForm::whole, data};
}

// Tells later plans what a product by estimate took. A fallback counts as the method that was planned, attempt and all:
// a method whose attempts are all in vain is left.
template <class T>
void observe_product(const ProductPlan& plan, double seconds) noexcept;

// What it says of a product that is too brief for any other method.
inline void describe_small(Plan& plan, int threads) {
  plan.threads = threads;
  describe_native(plan, native_name());
  plan.reason = std::string(small_product_reason);
}

// The plan of a product so small, or so brief by estimate, that the native one is taken: what plan_product() comes to,
// in a third of its time. False, and nothing is written, where that has to look further.
template <class T>
bool plan_small_product(const ProductShape& shape, const Options& options, Plan& plan);

// Products whose entries are known to be at most share |A_i|_2 |B_j|_2: 32 log2 of the norms that scaled vectors may
// have beside so many moduli, 0 if none; and such a product by residues. C_ij is alpha times what is between -1/2 and
// 1/2 modulo_ij and differs from that of the rounded vectors by its multiple: where entries are larger, that is known.
// scales: rows times 2^a_i and columns times 2^b_j are rounded to integers, and modulo_ij = P 2^-(a_i + b_j), P the
// product of the moduli. False, with C untouched: residues do not make it.
int norm_budget_within(int moduli, std::int64_t k, double share);
bool gemm_within(const GemmCall<double>& call, int moduli, double share, const Sides<int*>& scales,
                 const Options& options);

// What a product takes for workspace_limit = 0 if `least` does not ask for more: with twice the memory of A, B and C
// ordinary data are converted once, as a whole. Products beside each other, which share the machine's processors, stay
// within a quarter of its memory together.
std::size_t default_limit(const ProductShape& shape, std::size_t element_bytes, int threads, std::size_t least = 0);

// What a product may take, whoever set it. The default gives way where not even the least workspace fits it.
std::size_t workspace_limit(const ProductShape& shape, std::size_t element_bytes, const Options& options,
                            std::size_t least = 0);

// Throws Error on an unknown engine or where the workspace is too small.
template <class T>
ProductPlan plan_product(const ProductShape& shape, const Options& options, bool doubled = false);

// Workspace of a whole product at full speed, or the least with which it runs whatever the data.
template <class T>
std::size_t workspace_bytes(const ProductShape& shape, const Options& options, bool least);

}  // namespace vernier
