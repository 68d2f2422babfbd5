// Residues of C on a GPU -> C = RN(alpha T + RN(beta C)), in one pass over them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/gate.hpp"
#include "engine/panel_cuda.hpp"
#include "number/moduli.hpp"
#include "product/operand.hpp"
#include "product/output.hpp"
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
  const int *row_scales = nullptr, *column_scales = nullptr;
  Output<T, DeviceFactor<T>> to;
  // Of a batch of regular products, at most 65535: residues and scales lie one product behind the other.
  int products = 1;
  std::int64_t product_stride_c = 0;
  Gate gate;            // where it is closed C is left as it is
  bool seldom = false;  // the gate is closed most often, and then costs the start of few blocks
  // Where NaN and infinities may be about: the block's operands, and statistics that name the vectors that hold one.
  bool specials = false;
  Operand<T> a, b;
  const VectorStatistics *row_statistics = nullptr, *column_statistics = nullptr;
  // Null for every entry; else those alone that are, or are not, ordinary.
  const VectorProof *row_proofs = nullptr, *column_proofs = nullptr;
  bool ordinary = true;
};

template <class T>
void recombine_on_device(const DeviceRecombination<T>& task, cudaStream_t stream);

}  // namespace vernier::cuda
