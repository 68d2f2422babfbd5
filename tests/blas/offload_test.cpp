// Matrices of the host on a device: the bits of one product on the CPU, whatever the blocks, and where a device fails.
// The device is one in memory of the host that multiplies as the CPU does.
#include "blas/offload/offload.hpp"

#include "base/status.hpp"
#include "fake_target.hpp"
#include "fixture.hpp"
#include "support/error_message.hpp"

namespace vernier::test::offload_test {
namespace {

template <class T>
Outcome<T> offloaded(const Call<T>& call, const Options& options, const OffloadTarget<T>& target,
                     const OffloadSettings& settings = {}) {
  const std::int64_t m = call.a.rows(), n = call.b.columns(), k = call.a.columns();
  const Matrix<T> a = stored(call.opa, call.a, call.pad_a), b = stored(call.opb, call.b, call.pad_b);
  const bool given = call.c.rows() == m && call.c.columns() == n;
  Outcome<T> out{given ? padded(call.c, call.pad_c) : Matrix<T>(m, n, call.pad_c), Report{}};
  out.report = offloaded_gemm<T>({call.opa, call.opb, m, n, k, call.alpha, a.data(), a.ld(), b.data(), b.ld(),
                                  call.beta, out.c.data(), out.c.ld()},
                                 options, target, settings);
  EXPECT_EQ(out.c.broken_guard(), "");
  return out;
}

struct RandomCase {
  Call<double> call;
  Options options;
  OffloadSettings settings;
  std::string text;
};

RandomCase random_case(Random& random, std::uint64_t seed) {
  RandomCase r;
  const std::int64_t m = random.integer(1, 70), n = random.integer(1, 70), k = random.integer(1, 80);
  const auto& families = operand_families();
  const std::string& family = families[static_cast<std::size_t>(seed % families.size())];
  const auto [a, b] = make_operands<double>(family, m, n, k, seed);
  r.call.a = a, r.call.b = b;
  r.call.opa = all_ops[random.integer(0, 1)], r.call.opb = all_ops[random.integer(0, 1)];
  r.call.alpha = random.integer(0, 1) == 0 ? 1 : random.normal();
  r.call.beta = random.integer(0, 1) == 0 ? 0 : random.normal();
  if (r.call.beta != 0) r.call.c = scattered_matrix<double>(m, n, 0.5, seed + 1);
  const Contract contracts[] = {Contract::fp64(), Contract::bits(60), Contract::exact(), Contract::normwise()};
  r.options.contract = contracts[random.integer(0, 3)];
  r.options.contract.reproducible = true;
  r.options.threads = static_cast<int>(random.integer(1, 2));
  r.settings.m_block = random.integer(4, 80), r.settings.n_block = random.integer(4, 80);
  r.settings.transfer.piece_bytes = static_cast<std::size_t>(8 * random.integer(300, 4000));
  r.text = joined(family, ", ", m, " x ", n, " x ", k, ", ", r.options.contract.text(), ", blocks ", r.settings.m_block,
                  " x ", r.settings.n_block);
  return r;
}

TEST(Offload, HasTheBitsOfTheCpuInBlocksOfEverySize) {
  Random random(21);
  int cut = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const RandomCase r = random_case(random, i);
    const auto target = fake_target<double>(r.options.contract, i, nullptr, 1 + static_cast<int>(i % 3));
    const auto out = offloaded(r.call, r.options, target, r.settings);
    ASSERT_EQ(difference_but_for_nans(out.c, multiply(r.call, r.options).c), "") << r.text;
    ASSERT_EQ(out.report.plan.reason.find("on the CPU"), std::string::npos) << out.report.plan.reason;
    cut += out.report.plan.reason.find(joined(" ", r.settings.m_block, " x ", r.settings.n_block)) != std::string::npos;
  }
  EXPECT_GT(cut, 100);
}

// Column j of B, and one row of A, are so rough that other rows are wide beside them: in a block of its own nobody
// would see that.
TEST(Offload, MultipliesWholeWhatDependsOnOtherBlocks) {
  Call<double> call{.a = scattered_matrix<double>(96, 80, 0.5, 1), .b = scattered_matrix<double>(80, 96, 0.5, 2)};
  for (std::int64_t l = 0; l < 80; ++l) call.b(l, 70) = std::ldexp(call.b(l, 70), static_cast<int>(l * 7 % 41));
  for (std::int64_t l = 0; l < 80; ++l) call.a(3, l) = std::ldexp(call.a(3, l), static_cast<int>(l * 11 % 37));
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  const OffloadSettings settings{.m_block = 32, .n_block = 32};
  const auto expected = multiply(call, options);
  ASSERT_GT(expected.report.wide_moduli, 0);
  const auto out = offloaded(call, options, fake_target<double>(options.contract, 5), settings);
  EXPECT_EQ(difference(out.c, expected.c), "");
  EXPECT_NE(out.report.plan.reason.find("96 x 96 of C at a time"), std::string::npos) << out.report.plan.reason;

  auto small = fake_target<double>(options.contract, 5);
  small.free_memory = [](int) { return std::size_t{150000}; };
  const auto on_cpu = offloaded(call, options, small, settings);
  EXPECT_EQ(difference(on_cpu.c, expected.c), "");
  EXPECT_NE(on_cpu.report.plan.reason.find("multiplied whole"), std::string::npos) << on_cpu.report.plan.reason;
}

// One block in four is too wide for residues: the program must hear that the GPU's own product was taken.
TEST(Offload, SaysSoWhereABlockIsTheDevicesOwnProduct) {
  const Call<double> call{.a = scattered_matrix<double>(64, 40, 0.5, 1), .b = scattered_matrix<double>(40, 64, 0.5, 2)};
  const Options options;
  auto target = fake_target<double>(options.contract, 3);
  int blocks = 0;
  const auto multiply = std::exchange(target.multiply, {});
  target.multiply = [&](const GemmCall<double>& x, std::size_t workspace, void* stream) {
    Report report = multiply(x, workspace, stream);
    report.plan.scheme = ++blocks == 3 ? "native" : "residues";
    report.fallback = blocks == 3;
    return report;
  };
  const auto out = offloaded(call, options, target, {.m_block = 32, .n_block = 32});
  EXPECT_EQ(blocks, 4);
  EXPECT_TRUE(out.report.fallback);
  EXPECT_EQ(out.report.plan.scheme, "cublas");
}

// Nine blocks of three panels each way.
class KeepingTarget {
 public:
  KeepingTarget() : target_(fake_target<double>(Contract::fp64(), 3)) {
    target_.kept_bytes = [this](std::int64_t, std::int64_t) { return bytes_of_one; };
    target_.multiply_keeping = [this](const GemmCall<double>& x, std::size_t workspace, void* stream, KeptOperand& a,
                                      KeptOperand& b) {
      ++products;
      for (KeptOperand* kept : {&a, &b}) {
        if (!kept->wanted) continue;
        ++wanted;
        if (kept->made == nullptr)
          kept->made = std::shared_ptr<int>(new int(++made),
                                            [this](int* p) {
                                              delete p;
                                              --alive;
                                            }),
          ++alive;
        if (lets_go) *kept = {};
      }
      return target_.multiply(x, workspace, stream);
    };
  }

  void multiply() {
    const Call<double> call{.a = scattered_matrix<double>(96, 40, 0.5, 1),
                            .b = scattered_matrix<double>(40, 96, 0.5, 2)};
    const auto out = offloaded(call, {}, target_, {.m_block = 32, .n_block = 32});
    EXPECT_EQ(difference(out.c, test::multiply(call, {}).c), "");
  }

  std::size_t bytes_of_one = 100;
  bool lets_go = false;
  int products = 0, wanted = 0, made = 0, alive = 0;

 private:
  OffloadTarget<double> target_;
};

TEST(Offload, KeepsWhatBlocksShareUntilTheLastOfThem) {
  KeepingTarget target;
  target.multiply();
  EXPECT_EQ(target.products, 9);
  EXPECT_EQ(target.wanted, 18);
  EXPECT_EQ(target.made, 6);
  EXPECT_EQ(target.alive, 0);
}

TEST(Offload, KeepsNothingThatMemoryDoesNotHoldOrThatTheDataLetGoOf) {
  KeepingTarget small;
  small.bytes_of_one = std::size_t{1} << 27;
  small.multiply();
  EXPECT_EQ(small.wanted, 0);
  KeepingTarget irregular;
  irregular.lets_go = true;
  irregular.multiply();
  EXPECT_EQ(irregular.products, 9);
  EXPECT_EQ(irregular.wanted, 2);
  EXPECT_EQ(irregular.alive, 0);
}

TEST(Offload, HasFloatAndComplexProductsToo) {
  Options options;
  options.contract = Contract::parse("fp32+reproducible");
  const Call<float> call{.a = scattered_matrix<float>(70, 90, 0.5, 3), .b = scattered_matrix<float>(90, 65, 0.5, 4)};
  const OffloadSettings settings{.m_block = 20, .n_block = 33};
  EXPECT_EQ(difference(offloaded(call, options, fake_target<float>(options.contract, 1), settings).c,
                       multiply(call, options).c),
            "");
  using Z = std::complex<double>;
  Random random(5);
  std::vector<Z> a(40 * 30), b(30 * 50), c(40 * 50), expected(40 * 50);
  for (auto* x : {&a, &b})
    for (Z& z : *x) z = {random.scattered(0.5), random.scattered(0.5)};
  options.contract = Contract::parse("fp64+reproducible");
  gemm<Z>(Op::none, Op::transpose, 40, 50, 30, Z(2), a.data(), 40, b.data(), 50, Z(0), expected.data(), 40, options);
  offloaded_gemm<Z>({Op::none, Op::transpose, 40, 50, 30, Z(2), a.data(), 40, b.data(), 50, Z(0), c.data(), 40},
                    options, fake_target<Z>(options.contract, 2), {.m_block = 16, .n_block = 16});
  EXPECT_TRUE(c == expected);
}

// Threads copy 10 GB/s and each device makes 1e12 multiplications a second: a second one helps where copies are not the
// limit, or not the threads'.
TEST(Offload, IsSharedByDevicesWhereTheEstimateSaysSo) {
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  const auto shared = [&](std::int64_t m, std::int64_t n, std::int64_t k, offload::Memory memory, double rate) {
    const Call<double> call{.a = scattered_matrix<double>(m, k, 0.5, 1), .b = scattered_matrix<double>(k, n, 0.5, 2)};
    auto target = fake_target<double>(options.contract, 7, nullptr, 2);
    target.memory_of = [=](const void*, const void*) { return memory; };
    target.shared_seconds = [=](const offload::Staged& x, std::int64_t) {
      return std::max(static_cast<double>(x.up + x.down) / 10e9, static_cast<double>(x.m * x.n * k) / rate);
    };
    const auto out = offloaded(call, options, target);
    EXPECT_EQ(difference(out.c, multiply(call, options).c), "");
    return out.report.plan.reason.find("and 1 more") != std::string::npos;
  };
  using enum offload::Memory;
  EXPECT_FALSE(shared(300, 300, 300, pageable, 1e12)) << "the threads would copy one operand twice";
  EXPECT_TRUE(shared(300, 300, 300, pageable, 1e10)) << "products take longer than all copies";
  EXPECT_TRUE(shared(300, 300, 300, pinned, 1e12)) << "links copy by themselves";
  EXPECT_TRUE(shared(1200, 1200, 40, pageable, 1e12)) << "nearly all is C, which goes once";
}

TEST(Offload, IsCompletedByTheCpuWhereverADeviceFails) {
  Random random(22);
  int completed = 0, restarted = 0;
  for (std::uint64_t i = 0; i < 150; ++i) {
    const RandomCase r = random_case(random, i);
    const int devices = 1 + static_cast<int>(i % 2);
    Fault fault{.lost = random.integer(0, 1) != 0};
    offloaded(r.call, r.options, fake_target<double>(r.options.contract, i, &fault, devices), r.settings);
    fault.at_call = static_cast<int>(random.integer(0, fault.calls - 1));
    fault.calls = 0;
    const auto out =
        offloaded(r.call, r.options, fake_target<double>(r.options.contract, i, &fault, devices), r.settings);
    ASSERT_EQ(difference_but_for_nans(out.c, multiply(r.call, r.options).c), "")
        << r.text << ", call " << fault.at_call;
    if (fault.calls <= fault.at_call) continue;
    const std::string& reason = out.report.plan.reason;
    ASSERT_NE(reason.find("the fake device fails"), std::string::npos) << reason;
    (reason.find("entries on the CPU") != std::string::npos ? completed : restarted) += 1;
  }
  EXPECT_GT(completed, 10);
  EXPECT_GT(restarted, 10);
}

TEST(Offload, IsTheCpusWhereThereIsNoDeviceOrNoMemoryOrNoKernel) {
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  const Call<double> call{.a = scattered_matrix<double>(60, 50, 0.5, 3), .b = scattered_matrix<double>(50, 65, 0.5, 4)};
  const auto expected = multiply(call, options).c;
  const auto reason = [&](const OffloadTarget<double>& target) {
    const auto out = offloaded(call, options, target);
    EXPECT_EQ(difference(out.c, expected), "");
    return out.report.plan.reason;
  };
  auto target = fake_target<double>(options.contract, 1);
  target.devices = 0;
  target.missing = "no CUDA device: none";
  EXPECT_NE(reason(target).find("on the CPU: no CUDA device: none"), std::string::npos);
  target = fake_target<double>(options.contract, 1);
  target.free_memory = [](int) { return std::size_t{1000}; };
  EXPECT_NE(reason(target).find("memory does not hold the least blocks"), std::string::npos);
  target.free_memory = [](int) -> std::size_t { fail(Status::device_error, "reset between two calls"); };
  EXPECT_NE(reason(target).find("on the CPU: reset between two calls"), std::string::npos);
  target = fake_target<double>(options.contract, 1);
  target.multiply = [](const GemmCall<double>&, std::size_t, void*) -> Report {
    fail(Status::unsupported, "no code for the GPU at hand");
  };
  EXPECT_NE(reason(target).find("no code for the GPU at hand"), std::string::npos);
}

TEST(Offload, UsesDeviceMemoryWhereItIsAndRefusesAMixture) {
  Options options;
  const Call<double> call{.a = scattered_matrix<double>(60, 50, 0.5, 3), .b = scattered_matrix<double>(50, 65, 0.5, 4)};
  auto target = fake_target<double>(options.contract, 1);
  target.memory_of = [](const void*, const void*) { return offload::Memory::device; };
  int links = 0;
  const auto link = target.link;
  target.link = [&](int device, offload::BlockProduct product) {
    ++links;
    return link(device, std::move(product));
  };
  EXPECT_EQ(difference(offloaded(call, options, target).c, multiply(call, options).c), "");
  EXPECT_EQ(links, 0);
  const void* of_a = nullptr;
  target.memory_of = [&](const void* first, const void*) {
    if (of_a == nullptr) of_a = first;
    return first == of_a ? offload::Memory::device : offload::Memory::pageable;
  };
  EXPECT_EQ(message([&] { offloaded(call, options, target); }),
            "gemm: A is in memory of a GPU; expected all of A, B and C there, or none of them");
}

TEST(Offload, CopiesNothingTwiceWhereTheDeviceReachesTheMatrices) {
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  Random random(23);
  for (std::uint64_t i = 0; i < 50; ++i) {
    RandomCase r = random_case(random, i);
    auto target = fake_target<double>(r.options.contract, i);
    target.memory_of = [](const void*, const void*) { return offload::Memory::pinned; };
    const auto out = offloaded(r.call, r.options, target, r.settings);
    ASSERT_EQ(difference_but_for_nans(out.c, multiply(r.call, r.options).c), "") << r.text;
  }
}

}  // namespace
}  // namespace vernier::test::offload_test
