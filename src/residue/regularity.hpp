// The words of each stream in which kernels tell the host whether a product is regular, and the back-off where it keeps
// not being so.
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>

#include "product/device_memory.hpp"
#include "product/host_mailbox.hpp"
#include "residue/bound/guess.hpp"
#include "residue/convert/convert.hpp"
#include "residue/plan/plan_cuda.hpp"

namespace vernier::cuda {

// Whose past counts: that of the stream's products; where no host waits, of the last on any if nothing was told of the
// stream's, or while it is captured.
struct Past {
  cudaStream_t stream;
  bool waits;
};

// Products of one shape and contract on one stream: while their data keep turning out irregular, so that cuBLAS takes
// them after a look in vain, most are not looked at. For contracts alone that promise no bits.
bool should_try(cudaStream_t stream, const DeviceProductPlan& plan);
void tried(cudaStream_t stream, const DeviceProductPlan& plan, bool in_vain);
// For products whose host does not wait: they are never looked at then.
bool pauses_without_host(cudaStream_t stream, const DeviceProductPlan& plan);

// Large products that fell back are wanted by quarters of C (blas/quarters.hpp), seldom once less than half of C was by
// residues so. Where all was, at first, and now and then, all of C is looked at again, as if nothing were known of it.
void want_quarters(cudaStream_t stream, const DeviceProductPlan& plan);
bool takes_quarters(cudaStream_t stream, const DeviceProductPlan& plan);
// Where these were by residues, for products whose host does not wait.
bool takes_quarters_without_host(cudaStream_t stream, const DeviceProductPlan& plan);
// share: by residues; moduli: the most of them; in_vain: something was.
void took_quarters(cudaStream_t stream, const DeviceProductPlan& plan, double share, int moduli, bool in_vain);
// Did the last ones so go one way that the host need not look before each? Now and then it does in any case.
bool quarters_went_alike(cudaStream_t stream, const DeviceProductPlan& plan);
// Would the next such product by a host that waits try quarters of its own, or a guess, for the first time?
bool tries_something(cudaStream_t stream, const DeviceProductPlan& plan);

// Which part of k was enough for cuBLAS's product of a quarter (product/native/enough_k.hpp); none: not known. Where it
// is not, or was not enough lately, it is seldom guessed.
Range known_k(const DeviceProductPlan& plan, const Past& past);
bool may_guess_k(cudaStream_t stream, const DeviceProductPlan& plan);
void remember_k(cudaStream_t stream, const DeviceProductPlan& plan, Range kept);

// What such products were lately; no more than a guess of what the next one will be.
struct ProductMemory {
  bool irregular = false;
  int guess = 0;                   // residues that may serve such a product (residue/bound/guess.hpp); 0: none
  int failed_guess = 0;            // the last that did not
  int failed_balanced = 0;         // ... of the balanced ones
  bool served = false;             // the guess did, the last time
  bool balanced_ordinary = false;  // the operands were ordinary, the last time that they were balanced
  int grading = 0;                 // between the exponents that would have balanced the last to take all of |A||B|
  int copies = 0;                  // more than 0: of balanced copies, while they take fewer moduli than this; -1: never
  double share = 1;                // of all operations, those whose pieces hold something
  int moduli = 0;                  // by scales from all of the product of |A| and |B|
  int symmetric = 0;               // 1, -1: op(B) is op(A) transposed, or is not; 0: not looked at

  bool learnt() const { return guess > 0 || copies > 0; }  // a way that may serve the next product
  // Of operands as they are; beside `copies` all is known of copies.
  ProductMemory without_copies() const {
    return copies > 0 ? ProductMemory{.irregular = true, .moduli = copies} : *this;
  }
};
ProductMemory remembered(const DeviceProductPlan& plan, const Past& past);
void remember(cudaStream_t stream, const DeviceProductPlan& plan, const ProductMemory& memory);

// Asks kernels of a stream. Products on the same stream take turns; the lock is held until the host has its answer.
class RegularityQuestion {
 public:
  explicit RegularityQuestion(cudaStream_t stream,
                              bool by_sqrt_rule = false);  // by_sqrt_rule: of products by sqrt_rule()

  Regularity regularity() const;
  bool wait();  // until a kernel has answered: is the product regular?
  HostAnswer guess_serves() const { return guess_.answer(); }
  bool wait_for_guess() const { return guess_.wait(stream_, "the bound of a guess"); }
  bool was_regular() const;  // the stream's last product of this kind; true before the first

 private:
  struct Words;
  static Words& of_stream(cudaStream_t stream);

  cudaStream_t stream_;
  Words& words_;
  bool by_sqrt_rule_;
  std::unique_lock<std::mutex> lock_;
  HostMailbox regular_, guess_;
};

}  // namespace vernier::cuda
