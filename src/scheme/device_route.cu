#include "scheme/device_route.cuh"

namespace vernier::cuda {

void choose_route_on_device(const RouteTask& task, cudaStream_t stream) {
  launch("choose_route", choose_route,
         {.grid = dim3(route_blocks),
          .block = dim3(route_threads),
          .cluster = dim3(route_blocks),
          .overlap_previous = true},
         stream, task);
}

}  // namespace vernier::cuda
