#include "residue/convert/cluster.cuh"
#include "residue/scale/route_choice.cuh"

namespace vernier::cuda {

void choose_route_on_device(const RouteTask& task, cudaStream_t stream) {
  if (!task.clusters) return choose_route_without_clusters(task, stream);
  constexpr int blocks = 8;
  launch("choose_route", choose_route<ClusterOfBlocks>,
         {.grid = dim3(blocks), .block = dim3(route_threads), .cluster = dim3(blocks), .overlap_previous = true},
         stream, task);
}

}  // namespace vernier::cuda
