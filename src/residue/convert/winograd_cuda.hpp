// One level of Strassen-Winograd on a GPU (residue/convert/winograd.hpp): operands as planes of seven sums of their
// quarters, and the seven products as quarters of C.
#pragma once

#include "residue/convert/convert.hpp"
#include "residue/convert/winograd.hpp"
#include "residue/recombine/recombine_cuda.hpp"

namespace vernier::cuda {

// planes[modulus][product][vector of the first half][half_depth(k)], with the scales that are there. Two words an
// element, or three in double precision; at most most_winograd_moduli.
template <class T>
void decompose_winograd_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b, const ConversionForm& form,
                                  cudaStream_t stream, const Gate& gate = {});

// The products of one block, residues[modulus][product] of task.units, all the way to C. Returns false, and does
// nothing, for what it was not made for: then the next function serves, and recombination of each quarter.
bool recombine_winograd_on_device(const DeviceRecombination<double>& task, cudaStream_t stream);

// residues[modulus][product][plane_bytes]: the first four products of each modulus become the quarters of C.
void combine_winograd_on_device(std::int8_t* residues, int moduli, std::int64_t plane_bytes, cudaStream_t stream,
                                const Gate& gate = {});

}  // namespace vernier::cuda
