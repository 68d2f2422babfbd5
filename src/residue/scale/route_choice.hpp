// The choice of a product's route on the device, with scales as choose_scales() has them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "product/route.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier::cuda {

struct RouteOperand {
  const VectorStatistics* statistics = nullptr;
  const unsigned* costs = nullptr;  // of block spans, or null
  std::int64_t vectors = 0;
  VectorProof* kinds = nullptr;
  int *ordinary = nullptr, *wide = nullptr;  // the scales of kinds, one by one
  unsigned* groups = nullptr;                // the sets of proofs in kinds, as EntryFilter has them
};

struct RouteTask {
  ScaleChooser chooser;
  std::int64_t k = 0;
  RouteOperand operand[2];
  DeviceRoute* route = nullptr;
  int ordinary_moduli = 0;  // of the rule
  RouteClasses classes;     // none: products with a wide entry or an element that is not finite are not for residues
  bool spans_follow = false;
  bool native = false;   // what the classes do not hold goes to the conventional product
  bool clusters = true;  // as in ConversionForm
};

// Does nothing for regular products; with costs, nothing where the choice stands.
void choose_route_on_device(const RouteTask& task, cudaStream_t stream);
void choose_route_without_clusters(const RouteTask& task, cudaStream_t stream);

}  // namespace vernier::cuda
