#include "residue/quad/measure_quad.cuh"

#include "residue/quad/convert_quad.cuh"

namespace vernier::cuda {
namespace {

unsigned blocks_of(std::int64_t count, int of_a_block) {
  return static_cast<unsigned>(divide_up(count, std::int64_t{of_a_block}));
}

}  // namespace

void measure_quad_on_device(const DeviceQuadSide& side, cudaStream_t stream) {
  const LaunchShape shape{.grid = dim3(blocks_of(side.x.vectors, held_vectors)), .block = dim3(measure_threads)};
  launch("measure_quad",
         side.x.parts == 1   ? measure_quad<1>
         : side.x.parts == 2 ? measure_quad<2>
                             : measure_quad<3>,
         shape, stream, side);
}

void sample_quad_on_device(const DeviceQuadSide& a, const DeviceQuadSide& b, DeviceQuadFacts* facts,
                           cudaStream_t stream) {
  check(cudaMemsetAsync(facts->samples, 0, sizeof(facts->samples), stream), "sample");
  launch("sample_quad", sample_quad, {.grid = dim3(quad_samples * quad_samples), .block = dim3(32)}, stream, a, b,
         facts);
  launch("sample_errors", sample_errors, {.grid = dim3(1), .block = dim3(64)}, stream, a, b, facts);
}

void set_quad_scales_on_device(const DeviceQuadSide& a, const DeviceQuadSide& b, const QuadSizes& sizes,
                               DeviceQuadFacts* facts, cudaStream_t stream) {
  check(cudaMemsetAsync(facts->maxima, 0, sizeof(facts->maxima), stream), "scales");
  launch("set_quad_scales", set_quad_scales,
         {.grid = dim3(blocks_of(a.x.vectors, scale_threads) + blocks_of(b.x.vectors, scale_threads),
                       static_cast<unsigned>(sizes.count)),
          .block = dim3(scale_threads)},
         stream, a, b, sizes, facts);
}

void convert_quad_on_device(const QuadView& x, const QuadScale* scales, int words, int moduli, std::uint8_t* planes,
                            cudaStream_t stream) {
  if (words == 4)
    x.parts == 1   ? launch_convert_quad<1, 4>(x, scales, moduli, planes, stream)
    : x.parts == 2 ? launch_convert_quad<2, 4>(x, scales, moduli, planes, stream)
                   : launch_convert_quad<3, 4>(x, scales, moduli, planes, stream);
  else
    x.parts == 1   ? launch_convert_quad<1, 6>(x, scales, moduli, planes, stream)
    : x.parts == 2 ? launch_convert_quad<2, 6>(x, scales, moduli, planes, stream)
                   : launch_convert_quad<3, 6>(x, scales, moduli, planes, stream);
}

}  // namespace vernier::cuda
