// fp32 products that are measured against each other, on one set of matrices.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "split/gemm.hpp"
#include "split_data.hpp"

namespace bench {

struct Contender {
  std::string name;
  std::function<void()> run;  // queues one product on the default stream
  double work = 1;            // of a whole fp32 product
};

class Contenders {
 public:
  explicit Contenders(std::int64_t elements) : a_(elements), b_(elements), c_(elements) {}

  Problem problem(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& kind, int draw = 0);

  Contender sgemm(const Problem& p);
  // On halves of the same data: a third of the work of an error-corrected product.
  Contender half_gemm(const Problem& p);
  // halfhalf and bf16x6 by the kernels that the contract would take, tf32tf32 by those that go with halfhalf's.
  Contender halfhalf(const Problem& p);
  Contender tf32tf32(const Problem& p);
  Contender bf16x6(const Problem& p);
  // What the contract takes: the conventional product where error correction does not pay.
  Contender contract(const Problem& p);
  std::vector<Contender> all(const Problem& p) { return {sgemm(p), halfhalf(p), tf32tf32(p), bf16x6(p), contract(p)}; }

  // `count` products of one shape, one behind the other in memory: the problem is the first of them.
  std::vector<Contender> batch(const Problem& p, std::int64_t count);

  // Split and product apart, the split for all orders of A and B in memory, and the whole.
  std::vector<Contender> stages(const std::string& scheme, const Problem& p);

  // The scheme that the data chose in the last product under the contract.
  std::string made(const Problem& p) const;

 private:
  Contender split(const std::string& name, const vernier::cuda::SplitGemmPlan& plan, const Problem& p);
  std::byte* workspace(std::size_t bytes);

  vernier::cuda::DeviceBuffer<float> a_, b_, c_;
  vernier::cuda::DeviceBuffer<std::byte> workspace_, halves_;
  vernier::cuda::Cublas cublas_;
};

}  // namespace bench
