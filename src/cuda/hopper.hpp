// Whether kernels written for Hopper are taken.
#pragma once

namespace vernier::cuda {

// VERNIER_GPU_KERNELS=any: the GPU runs what every GPU from compute capability 8.0 on runs. Another value than that or
// nothing is an error.
bool kernels_of_any_gpu();

// The current device is a Hopper GPU, and its kernels are not left alone.
bool takes_hopper_kernels();

}  // namespace vernier::cuda
