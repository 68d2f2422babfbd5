#include "product.hpp"

namespace vernier::bench {
namespace {

class HostProduct final : public Product {
 public:
  HostProduct(const Factors& factors, int threads)
      : f_(factors), threads_(threads), c_(static_cast<std::size_t>(f_.m * f_.n)) {}

  Report multiply(const Contract& contract, const std::string& engine, bool) override {
    return gemm(Op::none, Op::none, f_.m, f_.n, f_.k, 1.0, f_.a.data(), f_.m, f_.b.data(), f_.k, 0.0, c_.data(), f_.m,
                Options{.contract = contract, .engine = engine, .threads = threads_});
  }
  std::vector<double> column(std::int64_t j) override { return {c_.begin() + j * f_.m, c_.begin() + (j + 1) * f_.m}; }

 private:
  const Factors& f_;
  int threads_;
  std::vector<double> c_;
};

}  // namespace

std::unique_ptr<Product> host_product(const Factors& factors, int threads) {
  return std::make_unique<HostProduct>(factors, threads);
}

}  // namespace vernier::bench
