#include "scheme/device_convert_counting.cuh"

namespace vernier::cuda {

template void decompose_counting_on_device(const DeviceOperand<double>&, const DeviceOperand<double>&,
                                           const DeviceGrains&, const DeviceGrains&, const ConversionForm&,
                                           cudaStream_t);

}  // namespace vernier::cuda
