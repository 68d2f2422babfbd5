// CPU or GPU for matrices of the host, as far as the caller says (vernier/offload.hpp). CUDA is not asked.
#pragma once

#include "vernier/offload.hpp"

namespace vernier {

// As the options say, else the thread, else the environment.
inline Device asked_device(const Options& options) { return options.device ? *options.device : current_device(); }

}  // namespace vernier
