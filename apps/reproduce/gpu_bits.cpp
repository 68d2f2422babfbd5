// What the GPU at hand computes: the features of its instructions, and its bits beside those of models and processor.
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <vernier/cuda.hpp>
#include <vernier/hardware.hpp>
#include <vernier/split.hpp>

#include "device.hpp"
#include "reproduce/data.hpp"
#include "reproduce/fasi.hpp"
#include "reproduce/gpu.hpp"

namespace vernier::reproduce::gpu {

Result features(const Context& context) {
  const std::pair<const char*, int> names[] = {
      {"gpu:mma-fp16-fp32", 25},   {"gpu:wgmma-fp16-fp32", 25}, {"gpu:mma-bf16-fp32", 25},
      {"gpu:wgmma-bf16-fp32", 25}, {"gpu:mma-tf32-fp32", 25},   {"gpu:wgmma-tf32-fp32", 25},
      {"gpu:mma-fp16-fp16", 0},    {"gpu:wgmma-fp16-fp16", 0},  {"gpu:mma-fp64-k4", 0}};
  std::vector<std::unique_ptr<model::MatrixEngine>> engines;
  std::vector<fasi::Subject> subjects;
  for (const auto& [name, bits] : names) {
    engines.push_back(model::open_hardware(name));
    subjects.push_back({name, engines.back().get(), bits});
  }
  Result result;
  fasi::feature_table(subjects, result, context.progress);
  result.here = fmt::format(
      "Asked of the hardware: {}, {}. Against the A100 of the paper one bit more is kept below fp32's last.",
      cli::device_facts().name, cli::device_facts().driver);
  return result;
}

namespace {

// Entries whose bits differ.
template <class T>
std::int64_t differing(const std::vector<T>& x, const std::vector<T>& y) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) count += std::memcmp(&x[i], &y[i], sizeof(T)) != 0;
  return count;
}

void all_equal(Result& result, const char* claim, std::int64_t entries, std::int64_t differ) {
  result.check(claim, "-", fmt::format("{} of {} entries differ", differ, entries), "none", differ == 0 && entries > 0);
}

}  // namespace

Result same_bits_as_the_model(const Context& context) {
  const std::int64_t n = 64;
  Result result;
  result.show_table = true;
  result.table.columns = {"scheme", "k", "entries", "entries that differ"};
  std::int64_t entries = 0, differ = 0;
  double done = 0;
  for (const split::Scheme& s : split::schemes())
    for (const std::int64_t k : {100, context.quick ? 1000 : 4096}) {
      const auto a = scattered_matrix<float>(n, k, 1, context.seed),
                 b = scattered_matrix<float>(k, n, 1, context.seed + 1);
      Matrix<float> c(n, n);
      const int split_k = s.name == "tf32tf32_sep" && k >= 512 ? 2 : 1;  // split.hpp, multiply_on_gpu: one tile of C
      split::multiply(s, split::engine_of(s).engine, Op::none, Op::none, n, n, k, a.data.data(), n, b.data.data(), k,
                      c.data.data(), n, split_k);
      const cli::DeviceArray<float> da(a.data), db(b.data), dc(n * n);
      split::multiply_on_gpu(s, Op::none, Op::none, n, n, k, 1, da.data(), n, db.data(), k, 0, dc.data(), n);
      const std::int64_t other = differing(dc.values(), c.data);
      result.table.add({s.name, k, n * n, other});
      entries += n * n, differ += other;
      context.progress(++done / static_cast<double>(2 * split::schemes().size()));
    }
  all_equal(result, "the curves of figure 1 are those of the hardware, to the last bit", entries, differ);
  result.here =
      fmt::format("{} products of {} schemes on the tensor cores and on their model: {} of {} entries differ.",
                  static_cast<int>(done), split::schemes().size(), differ, entries);
  return result;
}

Result same_bits_as_the_cpu(const Context& context) {
  const std::int64_t n = context.quick ? 200 : 500, k = context.quick ? 300 : 2000;
  Result result;
  result.show_table = true;
  result.table.columns = {"contract", "phi", "entries", "entries that differ"};
  std::int64_t entries = 0, differ = 0;
  double done = 0;
  for (const char* contract :
       {"fp64+reproducible", "fp64-normwise+reproducible", "bits(40)+reproducible", "bits(80)+reproducible"})
    for (const double phi : {0.5, 2.0, 4.0}) {
      const auto a = scattered_matrix<double>(n, k, phi, context.seed),
                 b = scattered_matrix<double>(k, n, phi, context.seed + 1);
      Matrix<double> c(n, n);
      gemm<double>(Op::none, Op::none, n, n, k, 1, a.data.data(), n, b.data.data(), k, 0, c.data.data(), n,
                   {.contract = Contract::parse(contract)});
      const cli::DeviceArray<double> da(a.data), db(b.data), dc(n * n);
      const double one = 1, zero = 0;
      cuda::gemm<double>(Op::none, Op::none, n, n, k, &one, da.data(), n, db.data(), k, &zero, dc.data(), n,
                         {.contract = Contract::parse(contract)});
      const std::int64_t other = differing(dc.values(), c.data);
      result.table.add({contract, phi, n * n, other});
      entries += n * n, differ += other;
      context.progress(++done / 12);
    }
  all_equal(result, "GPU and processor give the same bits", entries, differ);
  result.here = fmt::format("{} products by residues on the GPU and on the processor: {} of {} entries differ.",
                            static_cast<int>(done), differ, entries);
  return result;
}

}  // namespace vernier::reproduce::gpu
