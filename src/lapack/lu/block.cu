#include "lapack/lu/block.cuh"

namespace vernier::cuda {

template void exchange_and_solve(const BlockTask<double>&, cudaStream_t);
template void subtract_small_product(const RowMajor<double>&, int, int, const ColumnRange&, int, int, cudaStream_t);

template void exchange_and_solve(const BlockTask<float>&, cudaStream_t);
template void subtract_small_product(const RowMajor<float>&, int, int, const ColumnRange&, int, int, cudaStream_t);

}  // namespace vernier::cuda
