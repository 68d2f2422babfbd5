// Matrix products by slices: Ozaki scheme I as Mukunoki, Ozaki, Ogita and Imamura (2020) run it on tensor cores, on any
// engine that the model describes.
//
//     #include <vernier/slices.hpp>
//     vernier::SliceOptions options{.mode = vernier::SliceMode::correctly_rounded, .engine = "volta-fp16-fp32"};
//     vernier::SliceReport r = vernier::gemm_by_slices(opa, opb, m, n, k, 1.0, A, lda, B, ldb, 0.0, C, ldc, options);
//
// Row i of A is split into slices that share one exponent, a_il = sum_p 2^(e_pi) x_pil with integers |x| < 2^bits; the
// columns of B alike. bits is the most for which the engine sums k products of such integers without any loss
// (model.hpp, exact_bits). Then AB = sum over (p, q) of 2^(e_pi + f_qj) X_p Y_q, and only this sum is rounded.
#pragma once

#include <cstdint>
#include <string>

#include "vernier/vernier.hpp"

namespace vernier {

enum class SliceMode {
  // DP-mode for double, SP-mode for float: as few slices as keep what is left below the error of a product in T,
  //     (|A_left| (|B| e))_i <= sqrt(k) u (|A| (|B| e))_i  for every i, e = (1, ..., 1), and the same for B,
  // without the products p + q > d + 1 (fast mode) unless the operands are split to the end; the sum in T, from the
  // smallest products to the largest: T, then C = RN(alpha T + RN(beta C)).
  working_precision,
  // CR-mode: slices until nothing is left, all products, alpha AB + beta C rounded once.
  correctly_rounded,
};

struct VERNIER_API SliceOptions {
  SliceMode mode = SliceMode::working_precision;
  // A name of model::engines() with signed inputs, or "blas": the fp64 product underneath. On a GPU: "cublas-fp16",
  // "cublas-bf16" (both with sums in fp32), "cublas-int8", or "blas": cuBLAS's fp64 product.
  std::string engine = "blas";
  int slices = 0;             // of each operand; 0: as the mode says. Not for correctly_rounded.
  bool all_products = false;  // working_precision: no fast mode
  std::int64_t k_block = 0;   // products run over so many k, which leaves more bits to a slice; 0: all of k
  std::int64_t block = 0;  // of C, m and n: bounds the memory for products; 0: 256, on a GPU as much as memory allows
};

struct VERNIER_API SliceReport {
  std::string engine, mode;        // mode: "DP", "SP" or "CR"
  int bits = 0;                    // of a slice
  int slices_a = 0, slices_b = 0;  // in the whole matrices
  bool fast = false;               // products with p + q > d + 1 were left out
  std::int64_t products = 0;       // pairs of slices that the mode asks for
  std::int64_t multiplied = 0;     // products of blocks that ran ...
  std::int64_t skipped = 0;        // ... and that did not, since a slice was zero there
  double left_a = 0, left_b = 0;   // the largest ratio of the estimate, of what was left
  std::size_t workspace = 0;       // bytes on the GPU: slices, what is left of the operands, products of a block
  double seconds = 0, seconds_split = 0, seconds_products = 0, seconds_sum = 0;

  std::string json() const;
};

// Arguments as in gemm(). The same bits for every engine with the same number of bits, and for every block of C;
// correctly_rounded: for everything. Throws Error with C untouched: invalid_argument, unsupported (the engine cannot
// multiply slices of one bit exactly for this k).
template <class T>
VERNIER_API SliceReport gemm_by_slices(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, Scalar<T> alpha,
                                       const T* A, std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C,
                                       std::int64_t ldc, const SliceOptions& options = {});

namespace cuda {

// The same for matrices in the memory of a GPU, k up to 2097120, by cuBLAS, on a stream (a cudaStream_t).
// Returns when the product is done. bits is the least that the model's engines of current GPUs allow for the format, so
// that results do not depend on the instructions that cuBLAS takes: those of the CPU for engines of as many bits.
// correctly_rounded: entries whose terms are more than 380 bits apart take the exact sum of their elements' products.
template <class T>
VERNIER_API SliceReport gemm_by_slices(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, Scalar<T> alpha,
                                       const T* A, std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C,
                                       std::int64_t ldc, const SliceOptions& options = {}, void* stream = nullptr);

}  // namespace cuda
}  // namespace vernier
