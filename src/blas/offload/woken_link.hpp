// The link to GPUs. The first call of CUDA and the first kernels take half a second or more: where the choice is free,
// a thread makes them beside the CPU's products.
#pragma once

#include "vernier/offload.hpp"

namespace vernier {

// Waits for CUDA, and measures what copies reach, once.
const HostLink& measured_link();

// The same once CUDA is awake; null until then. The first call wakes it. A program that ends meanwhile waits.
const HostLink* link_if_awake();

}  // namespace vernier
