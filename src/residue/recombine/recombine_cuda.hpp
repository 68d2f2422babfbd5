// Residues of C on a GPU -> C = RN(alpha T + RN(beta C)), in one pass over them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/gate.hpp"
#include "engine/panel_cuda.hpp"
#include "number/moduli.hpp"
#include "product/exact/exact_block.hpp"
#include "product/operand.hpp"
#include "product/scalars.hpp"
#include "residue/scale/scaling.hpp"

namespace vernier::cuda {

// One block of C, m x n. All pointers but this object's own are to device memory.
template <class T>
struct DeviceRecombination {
  int moduli = 0;
  ModuliList list = ModuliList::densest;  // with_root: for entries that are all ordinary, at most 16 moduli
  const std::int8_t* residues = nullptr;  // product_units(m, n) of each modulus; or:
  ProductUnits units = {};                // those of planes that hold more than this block ...
  std::int64_t plane_stride = 0;          // ... and are this many bytes apart
  std::int64_t m = 0, n = 0;
  Sides<BlockSide<T>> side;  // their statistics and vectors where NaN and infinities may be about
  Output<T, DeviceFactor<T>> to;
  // Of a batch of regular products, at most 65535: residues and scales lie one product behind the other.
  int products = 1;
  std::int64_t product_stride_c = 0;
  Gate gate;              // where it is closed C is left as it is
  bool seldom = false;    // the gate is closed most often, and then costs the start of few blocks
  bool specials = false;  // NaN and infinities may be about
  // Null for every entry; else those alone that are, or are not, ordinary.
  Sides<const VectorProof*> proofs;
  bool ordinary = true;
  const int* asymmetric = nullptr;  // in device memory: where it is 0, C is symmetric, and made from one side
};

template <class T>
void recombine_on_device(const DeviceRecombination<T>& task, cudaStream_t stream);

}  // namespace vernier::cuda
