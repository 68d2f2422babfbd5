// Complex products modulo p by two real ones, where s^2 = -1 modulo p: x + iy -> (x + sy, x - sy) takes complex numbers
// modulo p to pairs, which multiply part by part. Of the pair (c1, c2) of a product,
//     Re C = (c1 + c2) / 2,    Im C = (c1 - c2) / (2s) = -s (c1 - c2) / 2    mod p.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/gate.hpp"
#include "engine/panel_cuda.hpp"
#include "number/moduli.hpp"
#include "product/sides.hpp"

namespace vernier::cuda {

inline constexpr int most_complex_moduli = 16;

// out[i] = op(A)'s row i: out is k x m by columns, a the m x k matrix A by columns; or the columns of B likewise.
template <class R>
void turn_on_device(std::int64_t m, std::int64_t k, const R* a, std::int64_t lda, R* out, cudaStream_t stream);

// Planes of the residues of vectors of k pairs (Re, Im), [modulus][vector][device_pitch(2k)] in the natural form, of
// moduli_with_root -> planes of x + sy and of x - sy, [modulus][vector][device_pitch(k)], natural; conjugated: swapped.
struct ComplexPlanes {
  int moduli = 0;
  std::int64_t vectors = 0, k = 0;
  bool conjugated = false;
  const std::uint8_t* parts = nullptr;
  std::uint8_t* plus = nullptr;
  std::uint8_t* minus = nullptr;
  const int* irregular = nullptr;  // nothing is done where this is not 0
};
void pair_on_device(const ComplexPlanes& planes, cudaStream_t stream);

// c1 / 2 and c2 / 2 modulo p, product_units(m, n) of each modulus -> Re C and Im C as rows 2i and 2i + 1 of a real
// matrix, product_units(2m, n).
struct ComplexProduct {
  int moduli = 0;
  std::int64_t m = 0, n = 0;
  const std::int8_t* plus = nullptr;
  const std::int8_t* minus = nullptr;
  std::int8_t* out = nullptr;
  const int* irregular = nullptr;
};
void part_on_device(const ComplexProduct& product, cudaStream_t stream);

// Rows of op(A) as vectors of k pairs (x, y) -> two rows each of the real product whose columns are the pairs of op(B):
// (x, -y) and (y, x), behind a gate. A conjugated A has -y in place of y; for a conjugated B the second of each pair
// changes its sign.
template <class R>
struct RealRows {
  std::int64_t vectors = 0, k = 0;
  Sides<bool> conjugated = {};
  const R* from = nullptr;
  std::int64_t ld = 0;  // in real numbers
  R* to = nullptr;      // [2 vectors][2k]
  Gate gate = {};
};
template <class R>
void expand_rows_on_device(const RealRows<R>& rows, cudaStream_t stream);

// out[2i] = out[2i + 1] = in[i]: a row's scale for its real and its imaginary part.
void double_on_device(std::int64_t count, const int* in, int* out, cudaStream_t stream);

}  // namespace vernier::cuda
