// libvernier's functions for distributed products.
#pragma once

#include <vernier/vernier_distributed.h>

namespace vernier::interpose {

struct DistributedFunctions {
  decltype(&vernier_distributed_create) create;
  decltype(&vernier_distributed_destroy) destroy;
  decltype(&vernier_distributed_scanning) scanning;
  decltype(&vernier_distributed_scan) scan;
  decltype(&vernier_distributed_maxima) maxima;
  decltype(&vernier_distributed_sums) sums;
  decltype(&vernier_distributed_refuse) refuse;
  decltype(&vernier_distributed_combine) combine;
  decltype(&vernier_distributed_regular) regular;
  decltype(&vernier_distributed_passes) passes;
  decltype(&vernier_distributed_moduli) moduli;
  decltype(&vernier_distributed_element_bytes) element_bytes;
  decltype(&vernier_distributed_convert) convert;
  decltype(&vernier_distributed_multiply) multiply;
  decltype(&vernier_distributed_add) add;
  decltype(&vernier_distributed_finish) finish;
};

const DistributedFunctions& distributed();

}  // namespace vernier::interpose
