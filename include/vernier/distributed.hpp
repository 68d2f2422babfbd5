// A product whose operands lie in parts, at as many parties as there are: the bits of vernier::gemm in one process,
// however m, n and k are cut. Nothing here communicates; the caller sends what these functions make.
//
//     DistributedProduct<double> product(opa, opb, m, n, k, options);         // the same arguments at every party
//     while (product.scanning()) {                                            // 1. scan: which scales
//       product.scan(Side::left, part_of_a), product.scan(Side::right, part_of_b);
//       MPI_Allreduce(MPI_IN_PLACE, product.maxima().data(), ..., MPI_INT64_T, MPI_MAX, ...);
//       MPI_Allreduce(MPI_IN_PLACE, product.sums().data(), ..., MPI_INT64_T, MPI_SUM, ...);
//       product.combine();
//     }
//     product.partial(pass, rows_of_a, columns_of_b, elements, ld);           // 2. partial: for each part of k, and
//     product.add(pass, count, from_another_party, elements);                 //    sums, in any order
//     product.finish(elements, ld, alpha, beta, part_of_c);                   // 3. finish: C, entry by entry
//
// docs/distributed.md says what it costs, and what each byte means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "vernier/level3.hpp"

namespace vernier {

// Some rows and columns of a stored matrix: X[r + c * ldx] is its entry (rows[r], columns[c]), indices from 0.
template <class T>
struct MatrixPart {
  T* X = nullptr;
  std::int64_t ldx = 1;
  const std::int64_t* rows = nullptr;
  std::int64_t row_count = 0;
  const std::int64_t* columns = nullptr;
  std::int64_t column_count = 0;
};

// Entries, elements and words of a party are in memory of the current GPU, where its work is queued on that
// cudaStream_t; only scan() waits, and what goes by way of the host: long sums of digits, and finish() under exact.
// Elements begin at multiples of 8 bytes. Indices, maxima() and sums() stay in memory of the host.
struct DeviceMemory {
  void* stream = nullptr;
};

template <class T>
struct DistributedState;

// Scales are common to all parties, so elements of A and B are converted to integers alike everywhere, and sums of
// their products are exact modulo each p. An element is what A, B and the sums are made of: element_bytes(pass) bytes,
// all zero for a zero. A product takes one pass, or two where some rows or columns are wide (Report::wide_rows).
//
// T is float, double, std::complex<float> or std::complex<double>; the contract must be +reproducible or exact. Under
// exact with complex T, alpha and beta must be real. Functions throw Error, with nothing written; an error that the
// combined messages bring out (data too wide for the contract, another party's failure) every party throws alike.
template <class T>
class VERNIER_API DistributedProduct {
 public:
  DistributedProduct(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const Options& options);
  // A party with its data in device memory; others may have theirs elsewhere. The bits are the same, and so are all
  // messages. Throws Error(Status::unsupported) without CUDA or such a GPU.
  DistributedProduct(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const Options& options,
                     DeviceMemory memory);
  ~DistributedProduct();
  DistributedProduct(DistributedProduct&&) noexcept;
  DistributedProduct& operator=(DistributedProduct&&) noexcept;

  // ---- scan -------------------------------------------------------------------------------------------------------
  // Rounds: all that a party holds of A (Side::left) and of B (right) is scanned; maxima() and sums() become the
  // maxima and the sums over all parties; combine() goes on. Each entry must be scanned by exactly one party. Integers
  // below 2^53 that are not negative, so that doubles may carry them. k = 0: there is nothing to scan.
  bool scanning() const;
  void scan(Side side, const MatrixPart<const T>& part);
  std::span<std::int64_t> maxima();
  std::span<std::int64_t> sums();
  void combine();
  // This party cannot go on: in the next combine() every party throws Error(Status::out_of_memory).
  void refuse();

  // ---- facts, after the scan --------------------------------------------------------------------------------------
  // Every entry is ordinary and everything finite: where the whole k of some rows and columns lies together,
  // vernier::gemm of these has the same bits.
  bool regular() const;
  int passes() const;
  int moduli(int pass) const;  // 0: elements are long sums of digits, for data too wide for any moduli (exact alone)
  std::size_t element_bytes(int pass) const;
  std::int64_t wide_rows() const;
  std::int64_t wide_columns() const;

  // ---- partial ----------------------------------------------------------------------------------------------------
  // Elements of a part, in its place: X[r + c * ldx] becomes the element at (r + c * ld) * element_bytes(pass),
  // conjugated where op says so.
  void convert(int pass, Side side, const MatrixPart<const T>& part, std::byte* elements, std::int64_t ld) const;
  // C += op(A) op(B) of elements. m x k, k x n and m x n after op; ops transpose or do not, nothing is conjugated. With
  // Options::device, else VERNIER_DEVICE, on the current GPU: memory is the host's, and the CPU does what a GPU cannot.
  void multiply(int pass, Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const std::byte* A,
                std::int64_t lda, const std::byte* B, std::int64_t ldb, std::byte* C, std::int64_t ldc) const;
  // Both: C += op(A) op(B) of a part of A and a part of B that hold the same k in the same order.
  void partial(int pass, const MatrixPart<const T>& a, const MatrixPart<const T>& b, std::byte* C,
               std::int64_t ldc) const;
  // to += from, count elements.
  void add(int pass, std::int64_t count, const std::byte* from, std::byte* to) const;

  // Elements of sums as int64 words, words(pass) each, for plain integer sums of at most 16 parties: signed limbs of
  // 59 bits of the integer, and one of counts where NaN or infinities are about.
  std::size_t words(int pass) const;
  void to_words(int pass, std::int64_t count, const std::byte* elements, std::int64_t* words) const;
  void from_words(int pass, std::int64_t count, const std::int64_t* words, std::byte* elements) const;

  // In device memory: elements := their sums over all ranks of a ncclComm_t, 16 at most, by NCCL's int64. All ranks
  // call it, with as many elements.
  void all_reduce(int pass, std::int64_t count, std::byte* elements, void* communicator) const;

  // ---- finish -----------------------------------------------------------------------------------------------------
  // C = alpha op(A) op(B) + beta C on a part of C, with the complete sums of each pass at elements[pass], entry (r, c)
  // at (r + c * ld) * element_bytes(pass). alpha = 0 or k = 0: elements are not read and C = beta C.
  void finish(const std::byte* const* elements, std::int64_t ld, T alpha, T beta, const MatrixPart<T>& c) const;

 private:
  std::unique_ptr<DistributedState<T>> state_;
};

}  // namespace vernier
