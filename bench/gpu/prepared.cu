// vernier-gpu-prepared-bench: products with prepared operands on a GPU beside unprepared ones and cuBLAS, in one
// process and in turns: one JSON object a line.
//
//     vernier-gpu-prepared-bench [--contract fp64] [--phi 0.5] [--groups 7] M,N,K ...
//
// Times are medians over groups of calls, from call to call on one stream.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure.cuh"
#include "program.hpp"
#include "vernier/prepared.hpp"

namespace vernier::bench {
namespace {

struct Settings {
  std::string contract = "fp64";
  double phi = 0.5;
  int groups = 7;
};

void run(std::int64_t m, std::int64_t n, std::int64_t k, const Settings& s) {
  const DeviceMatrix<double> a(m, k, 1, s.phi), b(k, n, 2, s.phi), c(m, n);
  const double one = 1, zero = 0;
  const cuda::Options options{.contract = Contract::parse(s.contract)};
  cuda::Options native = options;
  native.engine = "native";
  native.contract = Contract::fp64();
  Timer timer;
  const double preparing = timer.seconds(
      3, [&] { const cuda::PreparedOperand<double> x(Side::left, Op::none, m, k, a.data(), m, options); });
  const cuda::PreparedOperand<double> left(Side::left, Op::none, m, k, a.data(), m, options);
  const cuda::PreparedOperand<double> right(Side::right, Op::none, k, n, b.data(), k, options);
  cuda::Options residues = options;
  residues.engine = left.engine();
  const auto product = [&](const cuda::Options& o) {
    cuda::gemm(Op::none, Op::none, m, n, k, &one, a.data(), m, b.data(), k, &zero, c.data(), m, o);
  };
  const auto one_prepared = [&] {
    return cuda::gemm(left, Op::none, m, n, k, &one, b.data(), k, &zero, c.data(), m, options);
  };
  const auto both_prepared = [&] { return cuda::gemm(left, right, m, n, k, &one, &zero, c.data(), m, options); };
  product(residues);
  const std::vector<double> expected = c.on_host();
  const PreparedReport report = one_prepared();
  const bool same = c.on_host() == expected;
  both_prepared();
  const bool same_both = c.on_host() == expected;
  std::vector<double> times[4];
  const int calls = std::max(2, static_cast<int>(0.02 * 60e12 / (2.0 * m * n * k)));
  for (int g = 0; g < s.groups; ++g) {
    times[0].push_back(timer.seconds(calls, [&] { product(native); }));
    times[1].push_back(timer.seconds(calls, [&] { product(residues); }));
    times[2].push_back(timer.seconds(calls, one_prepared));
    times[3].push_back(timer.seconds(calls, both_prepared));
  }
  std::printf(
      "{\"m\": %lld, \"n\": %lld, \"k\": %lld, \"contract\": \"%s\", \"phi\": %g, \"moduli\": %d, \"strassen\": %s, "
      "\"bytes\": %zu, \"prepared_a\": %s, \"same_bits\": %s, \"preparing\": %.4e, \"cublas\": %.4e, \"unprepared\": "
      "%.4e, \"a_prepared\": %.4e, \"both_prepared\": %.4e}\n",
      static_cast<long long>(m), static_cast<long long>(n), static_cast<long long>(k), s.contract.c_str(), s.phi,
      left.moduli(), left.strassen() ? "true" : "false", left.bytes(), report.prepared_a ? "true" : "false",
      same && same_both ? "true" : "false", preparing, median(times[0]), median(times[1]), median(times[2]),
      median(times[3]));
  std::fflush(stdout);
}

}  // namespace
}  // namespace vernier::bench

int main(int argc, char** argv) {
  using namespace vernier::bench;
  Settings s;
  std::vector<std::string> shapes;
  return program("vernier-gpu-prepared-bench", argc, argv,
                 {{"--contract", &s.contract}, {"--phi", &s.phi}, {"--groups", &s.groups}, {"shapes", &shapes}}, [&] {
                   for (const std::string& shape : shapes) {
                     long long m = 0, n = 0, k = 0;
                     if (std::sscanf(shape.c_str(), "%lld,%lld,%lld", &m, &n, &k) != 3 || m <= 0 || n <= 0 || k <= 0)
                       throw std::invalid_argument(shape + ": expected M,N,K");
                     run(m, n, k, s);
                   }
                 });
}
