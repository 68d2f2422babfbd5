// The kernel behind route_choice.hpp: one cluster of blocks, or one block, whose threads take vectors in turn.
#pragma once

#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "engine/entry_filter.hpp"
#include "residue/scale/route_choice.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier::cuda {

inline constexpr int route_threads = 512;
inline constexpr double wide_log2_unit = 0x1p20;

// What the vectors of one operand say together; scaling.cpp names the same things.
struct RouteSide {
  int ordinary_roughness_2, roughness_2, span, nonfinite, wide_vectors;
  unsigned kinds[proof_sets];

  __device__ unsigned all_proofs() const {
    unsigned all = 0;
    for (unsigned p = 0; p < proof_sets; ++p) all |= kinds[p] != 0 ? p : 0;
    return all;
  }
};

struct RouteFindings {
  RouteSide side[2];
  // In units of 2^-20, rounded up: of 64 bits, atomics on another block's shared memory are a load and a store
  int wide_log2[2];
  int exponent;
};

// The block's findings, and those of all blocks, which the first one holds and everybody copies.
struct RouteExchange {
  RouteFindings mine, all;

  template <class Blocks, class Merge>
  __device__ void meet(RouteExchange& first, const Blocks& blocks, Merge merge) {
    __syncthreads();
    if (threadIdx.x == 0) merge(mine, first.all);
    blocks.sync();
    if (threadIdx.x == 0 && blockIdx.x != 0) all = first.all;  // the first one's own may be under way to the next step
    __syncthreads();
  }
};

static_assert(EntryFilter::sets == proof_sets);  // its labels are proofs

template <class Body>
__device__ __forceinline__ void for_each_vector(const RouteTask& task, Body body) {
  for (int side = 0; side < 2; ++side)
    for (std::int64_t v = blockIdx.x * route_threads + threadIdx.x; v < task.operand[side].vectors;
         v += gridDim.x * route_threads)
      body(side, task.operand[side], v);
}

__device__ inline VectorNeeds needs_of(const ScaleChooser& chooser, const RouteOperand& x, std::int64_t v) {
  return chooser.needs(x.statistics[v], x.costs != nullptr ? static_cast<std::uint8_t>(x.costs[v]) : no_cost);
}

// By one thread.
__device__ inline DeviceRoute route_of(const RouteTask& task, const RouteFindings& found, double wide) {
  const RouteSide(&sides)[2] = found.side;
  const int exponent = found.exponent;
  const bool any_ordinary = (sides[0].all_proofs() & sides[1].all_proofs()) != 0, any_wide = wide > 0;
  const bool nonfinite = sides[0].nonfinite != 0 || sides[1].nonfinite != 0;
  const double log2_bound = (static_cast<double>(found.wide_log2[0]) + found.wide_log2[1]) / wide_log2_unit;
  DeviceRoute route{};
  route.irregular = 1;
  route.any_ordinary = any_ordinary ? 1 : 0;
  route.any_wide = any_wide ? 1 : 0;
  route.wide_exponent = exponent;
  route.wide_log2 = log2_bound;
  for (int i = 0; i < 2; ++i) {
    route.wide_vectors[i] = sides[i].wide_vectors;
    route.span[i] = sides[i].span;
    route.nonfinite[i] = sides[i].nonfinite;
  }
  if (any_wide && task.spans_follow) {
    route.spanned = 1;
    return route;
  }
  int moduli = 0;
  for (int c = task.classes.count - 1; c >= 0; --c)
    if (log2_bound <= task.classes.log2_bound[c]) moduli = task.classes.moduli[c];
  const bool held =
      (!any_wide || (moduli != 0 && exponent <= largest_exponent(max_limbs))) && (!nonfinite || task.classes.count > 0);
  if (!held) {
    (task.native ? route.native : route.unmet) = 1;
    return route;
  }
  if (any_ordinary) {
    route.ordinary = task.ordinary_moduli;
    (any_wide || nonfinite ? route.mixed : route.uniform) = 1;
  }
  if (any_wide) {
    route.wide = moduli;
    route.conversion = conversion_of(moduli, exponent <= largest_exponent(2) ? few_route_words : many_route_words);
  }
  return route;
}

template <class Blocks>
__global__ void __launch_bounds__(route_threads) choose_route(const __grid_constant__ RouteTask task) {
  __shared__ RouteExchange exchange;
  const auto blocks = Blocks::here();
  RouteExchange& first = *blocks.map_shared_rank(&exchange, 0);
  RouteFindings &mine = exchange.mine, &all = exchange.all;
  const ScaleChooser& chooser = task.chooser;
  wait_for_previous_kernels();
  allow_next_kernel();
  const bool again = task.operand[0].costs != nullptr;
  if (again ? task.route->spanned == 0 : task.route->irregular == 0) {
    if (!again && blockIdx.x == 0 && threadIdx.x == 0) *task.route = DeviceRoute{};
    return;
  }
  if (threadIdx.x == 0) exchange = RouteExchange{};
  blocks.sync();
  for_each_vector(task, [&](int side, const RouteOperand& x, std::int64_t v) {
    RouteSide& s = mine.side[side];
    if (v % EntryFilter::group == 0) x.groups[v / EntryFilter::group] = 0;
    if (x.statistics[v].nonfinite) atomicAdd(&s.nonfinite, 1);
    if (x.statistics[v].zero()) return;
    atomicMax(&s.span, x.statistics[v].span());
    const int roughness = needs_of(chooser, x, v).roughness_2;
    atomicMax(&s.roughness_2, roughness);
    if (roughness <= most_ordinary_roughness_2) atomicMax(&s.ordinary_roughness_2, roughness);
  });
  exchange.meet(first, blocks, [](const RouteFindings& from, RouteFindings& to) {
    for (int side = 0; side < 2; ++side) {
      atomicAdd(&to.side[side].nonfinite, from.side[side].nonfinite);
      atomicMax(&to.side[side].span, from.side[side].span);
      atomicMax(&to.side[side].roughness_2, from.side[side].roughness_2);
      atomicMax(&to.side[side].ordinary_roughness_2, from.side[side].ordinary_roughness_2);
    }
  });
  for_each_vector(task, [&](int side, const RouteOperand& x, std::int64_t v) {
    const bool zero = x.statistics[v].zero();  // has exact products with everything
    const unsigned proofs =
        zero ? proof_sets - 1 : chooser.proofs(needs_of(chooser, x, v), all.side[1 - side].ordinary_roughness_2);
    x.kinds[v].proofs = static_cast<std::uint8_t>(proofs);
    atomicAdd(&mine.side[side].kinds[proofs], 1u);
  });
  exchange.meet(first, blocks, [](const RouteFindings& from, RouteFindings& to) {
    for (int side = 0; side < 2; ++side)
      for (unsigned p = 0; p < proof_sets; ++p) atomicAdd(&to.side[side].kinds[p], from.side[side].kinds[p]);
  });
  double wide = wide_entries(all.side[0].kinds, all.side[1].kinds);
  const bool withdrawn = wide > most_wide_entries * static_cast<double>(task.operand[0].vectors) *
                                    static_cast<double>(task.operand[1].vectors);
  blocks.sync();
  if (withdrawn) {
    wide = 1;
    if (threadIdx.x < 2)
      for (unsigned p = 0; p < proof_sets; ++p) all.side[threadIdx.x].kinds[p] = p == proof_none ? 1 : 0;
    __syncthreads();
  }
  for_each_vector(task, [&](int side, const RouteOperand& x, std::int64_t v) {
    const VectorStatistics st = x.statistics[v];
    const RouteSide& other = all.side[1 - side];
    VectorProof scales;
    scales.proofs = withdrawn ? static_cast<std::uint8_t>(proof_none) : x.kinds[v].proofs;
    if ((scales.proofs & other.all_proofs()) == 0) atomicAdd(&mine.side[side].wide_vectors, 1);
    if (!st.zero()) {
      const VectorNeeds need = needs_of(chooser, x, v);
      scales.ordinary = scales.wide = need.ordinary - st.exponent;
      if (disjoint_from_some(scales.proofs, other.kinds)) {
        const int scaled = chooser.wide_exponent(need, other.roughness_2);
        scales.wide = scaled - st.exponent;
        atomicMax(&mine.exponent, scaled);
        atomicMax(&mine.wide_log2[side], static_cast<int>(ceil(norm_log2(st, task.k, scaled) * wide_log2_unit)));
      }
    }
    atomicOr(&x.groups[v / EntryFilter::group], 1u << scales.proofs);
    x.kinds[v] = scales;
    x.ordinary[v] = scales.ordinary;
    x.wide[v] = scales.wide;
  });
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicMax(&first.all.exponent, mine.exponent);
    for (int side = 0; side < 2; ++side) {
      atomicMax(&first.all.wide_log2[side], mine.wide_log2[side]);
      atomicAdd(&first.all.side[side].wide_vectors, mine.side[side].wide_vectors);
    }
  }
  blocks.sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) *task.route = route_of(task, all, wide);
}

}  // namespace vernier::cuda
