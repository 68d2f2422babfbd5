// The bits of a product on a GPU are those of the CPU: shapes, transposes, contracts, data of all kinds.
#include "cuda/device.hpp"
#include "gpu/fixture.hpp"
#include "support/bound.hpp"

namespace vernier::test::same_bits_test {
namespace {

class SameBitsOnGpu : public testing::TestWithParam<std::string> {
 protected:
  // A name of an engine; behind it "_strassen" for one level of Strassen-Winograd.
  cuda::Options options(Contract contract) const {
    const std::string& name = GetParam();
    const std::size_t suffix = name.find("_strassen");
    return {.contract = reproducible(contract),
            .engine = name.substr(0, suffix),
            .strassen_levels = suffix != std::string::npos ? 1 : 0};
  }

  template <class T>
  std::string difference_from_cpu(const Call<T>& call, const Contract& contract, Shifts shifts = {}) {
    return difference_but_for_nans(multiply_on_gpu(call, options(contract), shifts).c, on_cpu(call, contract));
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, SameBitsOnGpu,
                         testing::Values("sm90_int8", "mma_int8", "cublas_int8", "sm90_int8_strassen",
                                         "mma_int8_strassen", "cublas_int8_strassen"),
                         ReadableName());

template <class T>
std::vector<Contract> contracts() {
  return {Contract::fp64(),   Contract::fp32(),   Contract::normwise(),
          Contract::bits(16), Contract::bits(70), Contract::bits(110)};
}

TEST_P(SameBitsOnGpu, ForEveryFamilyAndContract) {
  for (const Type type : {Type::float64, Type::float32})
    with_type(type, [this, type]<class T>(T) {
      for (const std::string& family : operand_families())
        for (const Contract& contract : contracts<T>()) {
          const auto [a, b] = make_operands<T>(family, 70, 67, 130, 43);
          EXPECT_EQ(difference_from_cpu<T>({.a = a, .b = b}, contract), "")
              << family << ", " << contract.text() << ", " << type;
        }
    });
}

// Whole tiles of rows that no ordinary entry has, and, in halves, others that share planes with them.
TEST_P(SameBitsOnGpu, WhereManyRowsSideBySideAreWide) {
  Call<double> call{.a = scattered_matrix<double>(3000, 200, 0.5, 1), .b = scattered_matrix<double>(200, 130, 0.5, 2)};
  for (std::int64_t i = 0; i < 160; ++i)
    for (std::int64_t l = 0; l < 200; ++l) call.a(i, l) = std::ldexp(call.a(i, l), static_cast<int>(l * 7 % 41));
  EXPECT_EQ(difference_from_cpu<double>(call, Contract::fp64()), "");
}

// Sizes around tiles, units, warps and strips; matrices at odd addresses, whatever their leading dimensions.
TEST_P(SameBitsOnGpu, ForRandomShapesTransposesAndFactors) {
  Random random(7);
  const auto size = [&](std::int64_t most) {
    const std::int64_t near[] = {1, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 192, 193, 255, 256, 257};
    const std::int64_t pick = random.integer(0, 31);
    return std::min(most, pick < 16 ? near[pick] : random.integer(1, most));
  };
  const std::vector<std::string>& families = operand_families();
  const int cases = GetParam().starts_with("sm90_int8") || GetParam() == "mma_int8" ? 3000 : 300;
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const std::int64_t m = size(300), n = size(300), k = size(500);
    const Op opa = all_ops[random.integer(0, 1)], opb = all_ops[random.integer(0, 1)];
    const std::string& family =
        families[static_cast<std::size_t>(random.integer(0, static_cast<int>(families.size()) - 1))];
    const double alpha = random.integer(0, 2) == 0 ? 1 : random.normal(),
                 beta = random.integer(0, 1) == 0 ? 0 : random.normal();
    const auto pad = random.integer(0, 5);
    const Shifts shifts{random.integer(0, 1), random.integer(0, 1), random.integer(0, 1)};
    with_type(i % 4 == 0 ? Type::float32 : Type::float64, [&]<class T>(T) {
      const std::vector<Contract> list = contracts<T>();
      const Contract contract = i % 3 == 0 ? list[static_cast<std::size_t>(random.integer(0, 5))] : Contract::fp64();
      const auto [a, b] = make_operands<T>(family, m, n, k, static_cast<std::uint64_t>(i));
      const Call<T> call{.a = a,
                         .b = b,
                         .opa = opa,
                         .opb = opb,
                         .alpha = static_cast<T>(alpha),
                         .beta = static_cast<T>(beta),
                         .c = scattered_matrix<T>(m, n, 0.5, static_cast<std::uint64_t>(i)),
                         .pad_a = pad,
                         .pad_b = 5 - pad,
                         .pad_c = pad};
      EXPECT_EQ(difference_from_cpu(call, contract, shifts), "")
          << "case " << i << ": " << family << ", m = " << m << ", n = " << n << ", k = " << k << ", op " << text(opa)
          << text(opb) << ", " << contract.text() << ", sizeof(T) = " << sizeof(T) << ", pad " << pad << ", shifts "
          << shifts.a << shifts.b << shifts.c;
    });
  }
}

TEST_P(SameBitsOnGpu, ForMatricesOfManyTiles) {
  struct Case {
    std::int64_t m, n, k;
    Op opa, opb;
  };
  for (const auto& [m, n, k, opa, opb] :
       {Case{1023, 777, 2049, Op::none, Op::none}, Case{1537, 1100, 640, Op::transpose, Op::none},
        Case{2300, 1900, 300, Op::none, Op::transpose}, Case{513, 515, 9000, Op::transpose, Op::transpose},
        Case{390, 700, 7937, Op::none, Op::transpose}})
    for (const char* family : {"random_phi_0_5", "random_phi_4", "wide_row"}) {
      const auto [a, b] = make_operands<double>(family, m, n, k, 3);
      EXPECT_EQ(difference_from_cpu<double>({.a = a, .b = b, .opa = opa, .opb = opb}, Contract::fp64()), "")
          << family << ", m = " << m << ", n = " << n << ", k = " << k;
    }
}

TEST_P(SameBitsOnGpu, ForKBeyondOneInt8Product) {
  for (const std::int64_t k : {65536 + 1, 150001}) {
    const auto [a, b] = make_operands<double>("random_phi_0_5", 33, 40, k, 5);
    EXPECT_EQ(difference_from_cpu<double>({.a = a, .b = b}, Contract::fp64()), "") << "k = " << k;
    EXPECT_EQ(difference_from_cpu<double>({.a = a, .b = b, .opb = Op::transpose}, Contract::normwise()), "") << k;
  }
}

// The square-root rule of contract fp64 has the scales of fp64-normwise, and hands on what it cannot prove to the
// product of |A| and |B|.
TEST_P(SameBitsOnGpu, WhereFp64MayTakeFewerModuli) {
  const auto check = [&](const char* family, int moduli, const Contract& same) {
    const auto [a, b] = make_operands<double>(family, 300, 200, 2048, 6);
    const Call<double> call{.a = a, .b = b, .opa = Op::transpose, .alpha = 0.3};
    cuda::Options plain = options(Contract::fp64());
    plain.contract = Contract::fp64();
    const auto out = multiply_on_gpu(call, plain);
    EXPECT_EQ(difference(out.c, on_cpu(call, same)), "") << family;
    EXPECT_EQ(out.report.plan.moduli, moduli) << family;
    EXPECT_FALSE(out.report.fallback) << family;
  };
  check("random_phi_0_5", 14, Contract::normwise());
  // Of another shape: a stream remembers what the data of one were like.
  const auto [a, b] = make_operands<double>("wide_row", 310, 210, 2048, 6);
  cuda::Options plain = options(Contract::fp64());
  plain.contract = Contract::fp64();
  const auto out = multiply_on_gpu(Call<double>{.a = a, .b = b, .opa = Op::transpose}, plain);
  EXPECT_EQ(broken_bound(plain.contract, a, b, out.c), "");
  EXPECT_EQ(out.report.bounded, cuda::takes_hopper_kernels());
  EXPECT_FALSE(out.report.fallback);
}

TEST_P(SameBitsOnGpu, WithNanAndInfinity) {
  for (const char* family : {"random_phi_0_5", "wide_row_against_wide_column"}) {
    auto [a, b] = make_operands<double>(family, 131, 117, 210, 41);
    const Call<double> finite{.a = a, .b = b};
    a(7, 9) = std::numeric_limits<double>::quiet_NaN();
    a(100, 200) = -std::numeric_limits<double>::infinity();
    b(11, 13) = std::numeric_limits<double>::infinity();
    b(200, 5) = 0;
    const Call<double> call{
        .a = a, .b = b, .alpha = 1.0 / 3, .beta = 0.7, .c = scattered_matrix<double>(131, 117, 0.5, 42)};
    for (const Contract& contract : {Contract::fp64(), Contract::normwise()}) {
      EXPECT_EQ(difference_from_cpu(call, contract), "") << family << ", " << contract.text();
      EXPECT_EQ(difference_from_cpu(finite, contract), "") << family << " after it, " << contract.text();
    }
  }
}

TEST_P(SameBitsOnGpu, UnderEveryWorkspaceLimit) {
  for (const char* family : {"random_phi_0_5", "wide_row_against_wide_column"}) {
    const auto [a, b] = make_operands<double>(family, 900, 1000, 300, 11);
    const Call<double> call{.a = a, .b = b, .opa = Op::transpose};
    const Matrix<double> expected = on_cpu(call, Contract::fp64());
    cuda::Options limited = options(Contract::fp64());
    const std::size_t least = cuda::gemm_workspace<double>(900, 1000, 300, limited, true),
                      full = cuda::gemm_workspace<double>(900, 1000, 300, limited);
    ASSERT_GT(least, 0u);
    ASSERT_LE(least, full);
    for (const std::size_t limit : {least, least + 4096, (least + full) / 2, full}) {
      limited.workspace_limit = limit;
      EXPECT_EQ(difference(multiply_on_gpu(call, limited).c, expected), "") << family << ", limit " << limit;
    }
    limited.workspace_limit = least - 1;
    EXPECT_THROW(multiply_on_gpu(call, limited), Error);
  }
}

}  // namespace
}  // namespace vernier::test::same_bits_test
