#include "residue/convert/counting.cuh"

namespace vernier::cuda {

template void decompose_counting_on_device(const DeviceOperand<double>&, const DeviceOperand<double>&,
                                           const DeviceLowestBitsLists&, const DeviceLowestBitsLists&,
                                           const ConversionForm&, cudaStream_t);

template void decompose_counting_on_device(const DeviceOperand<float>&, const DeviceOperand<float>&,
                                           const DeviceLowestBitsLists&, const DeviceLowestBitsLists&,
                                           const ConversionForm&, cudaStream_t);

}  // namespace vernier::cuda
