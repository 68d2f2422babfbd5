// CPU or GPU for matrices of the host, as far as the caller says (vernier/offload.hpp). CUDA is not asked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "vernier/offload.hpp"

namespace vernier {

// As the options say, else the thread, else the environment.
inline Device asked_device(const Options& options) { return options.device ? *options.device : current_device(); }

// How often threads of this process began or ended a DeviceScope: nobody's device changes in between.
inline constinit std::atomic<std::uint64_t> device_changes{0};

// "3000000", "512M", "2G": bytes, in units of 1024, of 1024^2 or 1024^3 (K, M, G). Throws Error(invalid_argument).
std::size_t parse_bytes(std::string_view text);

// What products of the host's matrices may take of each GPU, as VERNIER_GPU_MEMORY says; without it any.
std::size_t most_gpu_memory();

}  // namespace vernier
