// fp32 products out of a few low-precision ones: the error-corrected schemes by name.
//
// Every float v is split into parts, and a product of matrices becomes a few products of their parts:
//
//     part_p = to_low((v - sum_{q < p} 2^-shift_q part_q) 2^shift_p)          v ~ sum_p 2^-shift_p part_p
//     A B    ~ sum over terms (p, q) of 2^-(shift_p + shift_q) part_p(A) part_q(B)
//
// A Scheme says which, and in which order they are added; a modelled engine (model.hpp) executes it bit for bit on any
// machine, and a GPU's tensor cores give the same bits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/model.hpp"
#include "vernier/vernier.hpp"

namespace vernier::split {

// Part a of A times part b of B goes to the sum of that number.
struct Term {
  int a = 0, b = 0, sum = 0;
  int from = 0, length = 0;  // the k of each step that it covers; length 0: the whole step

  bool operator==(const Term&) const = default;
};

// What rounding takes of an addition outside is lost, or it begins the next run, inside the engine: all of it (TwoSum),
// or, in half the operations, all of it where the run is no larger than what lies outside (Fast2Sum).
enum class Carry { none, fast, exact };

// Sums begin inside the engine.
struct Sum {
  int run = 0;  // k whose products are added inside, from zero, before the sum moves outside (fp32, to nearest); 0: all
  int shift = 0;  // the sum counts 2^-shift
  // With a carry the sum ends as T = RN(O + RN(2^-25 O + RN(sum_s+1 + rest))): O outside, the rest of the last
  // addition, both once more made Fast2Sum(O, rest), and the sum that joins, of the same shift. 2^-25 O is what an
  // engine that cuts takes on average. Where the rest is 0, as where A or B is a permutation, it is left out: then O is
  // mostly exact.
  Carry carry = Carry::none;

  bool operator==(const Sum&) const = default;
};

// One scheme, as data. k is walked in steps; in each step the terms take turns in the order given. Where the sums of
// several terms are one, so does the engine's accumulator pass from term to term. Sums join as in Horner's rule, the
// one with the largest shift first: T = fma(T, 2^-(shift_s+1 - shift_s), sum_s).
struct Scheme {
  std::string name;
  std::string description;
  model::Format low = model::Format::fp16;
  model::Rounding first_rounding = model::Rounding::nearest_even;  // of part 0
  model::Rounding rest_rounding = model::Rounding::nearest_even;   // of the other parts
  std::vector<int> shifts;                                         // one a part
  std::vector<Term> terms;
  std::vector<Sum> sums;
  int step = 16;
  bool scaled = false;  // rows of A and columns of B are scaled by powers of two into [2^14, 2^15) first

  bool operator==(const Scheme&) const = default;
};

// bare_fp16, bare_tf32, markidis, egemm, halfhalf, tf32tf32, bf16x3, bf16x6, bf16x9: as published. halfhalf_sep,
// halfhalf_long, halfhalf_fold, tf32tf32_sep, tf32tf32_fold, bf16x6_sep, bf16x6_short: as the GPU kernels of this
// library compute them.
VERNIER_API const std::vector<Scheme>& schemes();
VERNIER_API const Scheme& find_scheme(std::string_view name);  // throws Error, naming all

// The tensor core of Hopper that multiplies the scheme's parts.
VERNIER_API const model::NamedEngine& engine_of(const Scheme& scheme);

// The parts of v, as encodings of scheme.low; words has room for one a part.
VERNIER_API void split(const Scheme& scheme, float v, std::uint64_t* words);

// C = op(A) op(B) in fp32 on a modelled engine that takes the scheme's parts and adds in fp32. Shapes as in gemm.
// split_k: equal contiguous pieces of k (padded to whole runs) that are multiplied alone, then added in order.
VERNIER_API void multiply(const Scheme& scheme, const model::Engine& engine, Op opa, Op opb, std::int64_t m,
                          std::int64_t n, std::int64_t k, const float* A, std::int64_t lda, const float* B,
                          std::int64_t ldb, float* C, std::int64_t ldc, int split_k = 1);

// C = alpha op(A) op(B) + beta C on the tensor cores of the current CUDA device: A, B and C in its memory, the work
// queued on the stream (a cudaStream_t). halfhalf_sep, halfhalf_long, halfhalf_fold, tf32tf32_sep, tf32tf32_fold,
// bf16x6_sep and bf16x6_short, as find_scheme() has them, run on the fast kernels; all other schemes, copies of these
// with other runs or terms among them (and all, if plain), on a simple one. The bits of T are those of multiply() on
// engine_of(scheme), unless plain with split_k = 2 for tf32tf32_sep where k >= 512 and C has at most 66 tiles of
// 128 x 128. Then C = RN(alpha T + RN(beta C)), as in gemm. Throws Error(Status::unsupported) where there is no such
// device.
VERNIER_API void multiply_on_gpu(const Scheme& scheme, Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                                 float alpha, const float* A, std::int64_t lda, const float* B, std::int64_t ldb,
                                 float beta, float* C, std::int64_t ldc, void* stream = nullptr, bool plain = false);

}  // namespace vernier::split
