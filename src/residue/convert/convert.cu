#include "residue/convert/launch.cuh"

namespace vernier::cuda {

template void measure_on_device(const DeviceOperand<double>&, const DeviceOperand<double>&, const ScalingRule&,
                                const ConversionForm&, const Regularity&, cudaStream_t);
template void decompose_on_device(const DeviceOperand<double>&, const DeviceOperand<double>&, const ConversionForm&,
                                  cudaStream_t, const Gate&);
template void bound_bytes_on_device(const DeviceOperand<double>&, const DeviceOperand<double>&, cudaStream_t,
                                    const Gate&);

template void measure_on_device(const DeviceOperand<float>&, const DeviceOperand<float>&, const ScalingRule&,
                                const ConversionForm&, const Regularity&, cudaStream_t);
template void decompose_on_device(const DeviceOperand<float>&, const DeviceOperand<float>&, const ConversionForm&,
                                  cudaStream_t, const Gate&);
template void bound_bytes_on_device(const DeviceOperand<float>&, const DeviceOperand<float>&, cudaStream_t,
                                    const Gate&);

}  // namespace vernier::cuda
