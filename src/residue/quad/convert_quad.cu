#include "residue/quad/convert_quad.cuh"

namespace vernier::cuda {

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
