// Plans of irregular products on a GPU: scales from the product of |A| and |B|, and guesses that it judges.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "residue/bound/balance.hpp"
#include "residue/bound/bound_buffers.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/plan/plan_cuda.hpp"
#include "residue/residues.hpp"

namespace vernier {
namespace {

// Scales from |A||B|, by the GPU that has the units for it, where no bits are promised and a host waits.
TEST(DevicePlan, IrregularProductsTakeTheirScalesFromTheBoundProduct) {
  const auto plan = [](std::int64_t n, DeviceRequest request) {
    request.int8_engine = "sm90_int8";
    if (request.workspace_limit == 0) request.workspace_limit = std::size_t{1} << 40;
    request.may_use_sqrt_rule = true;
    return plan_device_product<double>({n, n, n}, request);
  };
  const DeviceProductPlan usual = plan(8192, {.contract = Contract::fp64()});
  ASSERT_TRUE(usual.bound);
  EXPECT_GE(usual.most_bound_moduli, 17);
  EXPECT_LT(usual.most_bound_moduli, 26);
  EXPECT_EQ(plan(2304, {.contract = Contract::fp64()}).most_bound_moduli, 0);  // irregular ones are native
  EXPECT_EQ(plan(2304, {.contract = Contract::fp64(), .engine = "sm90_int8"}).most_bound_moduli, max_moduli);
  Contract exact = Contract::exact(), reproducible = Contract::fp64();
  reproducible.reproducible = true;
  for (const Contract& contract : {Contract::normwise(), exact, reproducible})
    EXPECT_FALSE(plan(8192, {.contract = contract, .engine = "sm90_int8"}).bound) << contract.text();
  EXPECT_TRUE(plan(8192, {.contract = Contract::fp64(), .asynchronous = true}).bound);
  DeviceRequest small{.contract = Contract::fp64(), .engine = "sm90_int8", .own_workspace = true};
  small.workspace_limit = std::size_t{160} << 20;
  EXPECT_FALSE(plan(8192, small).bound);  // operands and codes take 192 MiB
}

TEST(DevicePlan, BoundPassesTakeTheFormThatTheirIntegersAllow) {
  const DeviceProductPlan plan =
      plan_device_product<double>({16384, 16384, 16384}, {.contract = Contract::fp64(),
                                                          .int8_engine = "sm90_int8",
                                                          .workspace_limit = std::size_t{1} << 40,
                                                          .may_use_sqrt_rule = true});
  ASSERT_TRUE(plan.ordinary.form.strassen);
  const DevicePass usual = bound_device_pass(plan, 15, 57), wide = bound_device_pass(plan, 15, 62),
                   many = bound_device_pass(plan, 19, 57), most = bound_device_pass(plan, 20, 57),
                   widest = bound_device_pass(plan, 15, 92);
  EXPECT_TRUE(usual.blocking.form.strassen);
  EXPECT_EQ(usual.words, 2);
  EXPECT_TRUE(wide.blocking.form.strassen);
  EXPECT_EQ(wide.words, 3);
  EXPECT_TRUE(many.blocking.form.strassen);
  EXPECT_FALSE(most.blocking.form.strassen);
  EXPECT_FALSE(widest.blocking.form.strassen);
  EXPECT_EQ(widest.words, 4);
  EXPECT_FALSE(bound_device_pass(plan, 15, 57, 0.5).blocking.form.strassen);
  for (const DevicePass& pass : {usual, wide, many, most, widest}) {
    EXPECT_TRUE(pass.every_entry);
    EXPECT_LE(pass.blocking.bytes, plan.pass_bytes);
    EXPECT_TRUE(pass.blocking.whole(plan.shape));
  }
  // Residues of a guess, which await the judge, beside the operands of the product of |A| and |B|.
  ASSERT_TRUE(guess_awaits_judge(plan.shape));
  Arena beside;
  cuda::carve_device_bound(beside, plan.shape);
  for (int moduli = plan.least_guess; moduli <= plan.most_guess; ++moduli) {
    const DevicePass pass = guessed_device_pass(plan, moduli);
    EXPECT_TRUE(pass.blocking.form.strassen) << moduli;
    EXPECT_TRUE(pass.blocking.whole(plan.shape));
    EXPECT_LE(pass.blocking.bytes + beside.used(), plan.pass_bytes);
    EXPECT_EQ(guess_k_step(plan, moduli), moduli <= 15 ? 16 : 4);
  }
}

// Zeros that need not be multiplied: more moduli win, in passes whose conversion tells where the zeros are.
TEST(DevicePlan, ZerosLeaveRoomForMoreModuli) {
  const auto plan = [](std::int64_t n, const std::string& engine = "") {
    return plan_device_product<double>({n, n, n}, {.contract = Contract::fp64(),
                                                   .engine = engine,
                                                   .int8_engine = "sm90_int8",
                                                   .workspace_limit = std::size_t{1} << 40,
                                                   .may_use_sqrt_rule = true});
  };
  const DeviceProductPlan small = plan(4096), large = plan(16384);
  ASSERT_LT(small.most_bound_moduli, 19);
  EXPECT_EQ(most_hollow_moduli(small), 19);
  const auto wins = [](const DeviceProductPlan& of, int moduli, int exponent, double share) {
    return bound_pass_wins(of, bound_device_pass(of, moduli, exponent, share), share);
  };
  EXPECT_FALSE(wins(small, 19, 70, 1));
  EXPECT_TRUE(wins(small, 19, 70, 0.4)) << "triangles";
  EXPECT_FALSE(wins(small, 19, 100, 0.4)) << "four words, whose conversion does not look for zeros";
  EXPECT_TRUE(bound_pass_wins(small, {}, 1)) << "nothing to decide";
  EXPECT_TRUE(wins(plan(4096, "sm90_int8"), 30, 70, 1)) << "residues were asked for";
  EXPECT_LT(bound_pass_seconds(large, 19, 0.4), 0.6 * bound_pass_seconds(large, 19));
  const DevicePass hollow = bound_device_pass(large, 19, 70, 0.4);
  EXPECT_FALSE(hollow.blocking.form.strassen);
  EXPECT_TRUE(knows_filled(large, hollow, 0.4));
  EXPECT_FALSE(knows_filled(large, hollow, 0.95)) << "not worth it";
  EXPECT_FALSE(knows_filled(large, bound_device_pass(large, 19, 100, 0.4), 0.4)) << "four words";
  EXPECT_FALSE(knows_filled(large, bound_device_pass(large, 26, 70, 0.4), 0.4)) << "the device may take many words";
  EXPECT_FALSE(knows_filled(large, bound_device_pass(large, 19, 70), 0.4)) << "sums of quarters";
}

// Residues that lie beside the operands of the product of |A| and |B| until a part of that tells whether they serve.
TEST(DeviceBoundPlan, GuessesWhatIsFasterThanCublas) {
  const auto plan = [](std::int64_t m, std::int64_t k, const std::string& engine = "") {
    return plan_device_product<double>({m, m, k}, {.contract = Contract::fp64(),
                                                   .engine = engine,
                                                   .int8_engine = "sm90_int8",
                                                   .workspace_limit = std::size_t{1} << 40,
                                                   .may_use_sqrt_rule = true});
  };
  const DeviceProductPlan whole = plan(8192, 8192);
  EXPECT_EQ(whole.least_guess, 14);
  EXPECT_EQ(whole.most_guess, 17) << "the room is that of 19 moduli, without operands beside them";
  for (int moduli = 14; moduli <= 17; ++moduli) {
    EXPECT_TRUE(guessed_device_pass(whole, moduli).blocking.whole(whole.shape));
    EXPECT_EQ(moduli_of(guess_rule(whole, moduli), 8192), moduli);
    EXPECT_GE(guess_rule(whole, moduli).twice_norm_bits_16, 16 * log2_bound_of(moduli) - 1);
  }
  EXPECT_EQ(guess_rule(whole, 14).twice_norm_bits_16, whole.rule.twice_norm_bits_16);
  EXPECT_EQ(guess_rule(whole, 15).twice_norm_bits_16, whole.contract_rule.twice_norm_bits_16);
  EXPECT_EQ(whole.guesses(), 7) << "four with 14 moduli";
  EXPECT_EQ(guess_worth_making(whole, 5, 15), 5) << "15 moduli";
  EXPECT_EQ(guess_worth_making(whole, 7, 12), 0);
  EXPECT_EQ(guess_worth_making(whole, 8, 0), 0);
  EXPECT_EQ(guess_worth_making(whole, 7, 0), 7) << "faster than cuBLAS";
  EXPECT_EQ(guess_worth_making(whole, 0, 16), 0);
  EXPECT_EQ(whole.balanced_guesses(), 4);
  constexpr int balanced = cuda::most_guesses + 2;  // 15 moduli
  EXPECT_EQ(guess_worth_making(whole, balanced, 16), balanced);
  EXPECT_EQ(guess_worth_making(whole, balanced, 12), 0);
  EXPECT_EQ(guess_worth_making(whole, cuda::most_guesses + 5, 0), 0);
  const DeviceProductPlan small = plan(4096, 4096);
  EXPECT_GE(small.most_guess, 15);
  EXPECT_EQ(plan(3072, 3072).most_guess, 15) << "16 moduli are slower than cuBLAS";
  EXPECT_EQ(plan(3072, 3072, "sm90_int8").most_guess, 17) << "asked for";
  EXPECT_EQ(plan(2304, 2304).most_guess, 0);
  EXPECT_EQ(plan(2304, 2304).guesses(), 0);
  EXPECT_EQ(plan(2304, 2304).balanced_guesses(), 0);
}

// Exponents that balance make both sides' sums of squares equal, and say nothing of what one side lacks.
TEST(Balance, MakesBothSidesAlike) {
  for (const double a : {1e-9, 0.3, 1.0, 77.0, 1e12})
    for (const double b : {1e-12, 0.9, 4.0, 1e9}) {
      const double factor = balance_factor(balance_exponent(a, b)), ratio = a * factor * factor / (b / factor / factor);
      EXPECT_LE(std::abs(std::log2(ratio)), 2.0001) << a << ", " << b;
    }
  // Exponents that go half of the way, as those of elements that decay from a diagonal; and small ones, of noise.
  EXPECT_EQ(balance_exponent(1, 0x1p60, 10), 20);
  EXPECT_EQ(balance_exponent(0x1p60, 1, -10), -20);
  EXPECT_EQ(balance_exponent(1, 0x1p60, 15), 15) << "all of it";
  EXPECT_EQ(balance_exponent(1, 0x1p16, 3), 4);
  EXPECT_EQ(balance_exponent(0, 1), 0);
  EXPECT_EQ(balance_exponent(1, 0), 0);
  EXPECT_EQ(balance_exponent(1e-300, 1e300), most_balance);
  EXPECT_EQ(balance_exponent(1e300, 1e-300), -most_balance);
  for (int e = -most_balance; e <= most_balance; ++e) EXPECT_EQ(balance_factor(e), std::ldexp(1.0, e));
  EXPECT_EQ(balanced_element(3 * 0x1p-1020, 0x1p-3), 3 * 0x1p-1023);
  EXPECT_TRUE(std::isnan(balanced_element(0x1p-1020, 0x1p-3)));
  EXPECT_TRUE(std::isnan(balanced_element(0x1p-1074, 0x1p-30)));
  EXPECT_EQ(balanced_element(0x1p-1040, 0x1p20), 0x1p-1020);
  EXPECT_EQ(balanced_element(0, 0x1p-30), 0);
  EXPECT_TRUE(std::isinf(balanced_element(0x1p1000, 0x1p30)));
  EXPECT_EQ(cuda::guess_of(14, cuda::most_guesses + 1).moduli, 14);
  EXPECT_TRUE(cuda::guess_of(14, cuda::most_guesses + 1).balanced);
  EXPECT_FALSE(cuda::guess_of(14, cuda::most_guesses).balanced);
}

// Strassen-Winograd needs more memory: where that is not there for all of C, seven eighths of the speed are.
TEST(DeviceBoundPlan, AGuessIsMadeWithoutStrassenWhereOnlySoItFits) {
  const ProductShape shape{16384, 16384, 16384};
  Arena beside;
  cuda::carve_device_bound(beside, shape);
  int without = 0;
  for (std::size_t megabytes = 15000; megabytes < 30000; megabytes += 100) {
    const DeviceProductPlan plan = plan_device_product<double>(shape, {.contract = Contract::fp64(),
                                                                       .int8_engine = "sm90_int8",
                                                                       .workspace_limit = megabytes << 20,
                                                                       .own_workspace = true,
                                                                       .may_use_sqrt_rule = true});
    if (!plan.bound || !plan.ordinary.form.strassen) continue;
    for (int moduli = plan.ordinary.moduli; moduli <= 16; ++moduli) {
      const DeviceBlocking plain = choose_device_blocking(shape, moduli, plan.limits, plan.pass_bytes);
      if (!plain.whole(shape) || plain.bytes + beside.used() > plan.pass_bytes) continue;
      const DevicePass pass = guessed_device_pass(plan, moduli);
      EXPECT_TRUE(pass.blocking.whole(shape)) << megabytes << " MB, " << moduli << " moduli";
      EXPECT_GE(plan.most_guess, moduli) << megabytes;
      without += !pass.blocking.form.strassen;
    }
  }
  EXPECT_GT(without, 0);
}

// What rows have beyond an equal share, columns have less, so that the moduli hold all products of two norms.
TEST(DeviceBoundPlan, SharesOfAGuessAreWithinItsModuli) {
  for (int number = 1; number <= cuda::most_guesses; ++number) {
    const cuda::Guess guess = cuda::guess_of(14, number);
    EXPECT_EQ(guess.moduli, number <= cuda::guess_shares ? 14 : 14 + number - cuda::guess_shares);
    EXPECT_LE(std::abs(guess.share_32), cuda::largest_share_32);
    DeviceProductPlan plan;
    plan.shape = {4096, 4096, 1 << 20};
    const double half = guess_rule(plan, guess.moduli).twice_norm_bits_16 / 32.0, share = guess.share_32 / 32.0;
    EXPECT_LE(std::log2(std::exp2(half + share) + 512) + std::log2(std::exp2(half - share) + 512),
              log2_bound_of(guess.moduli));
  }
}

}  // namespace
}  // namespace vernier
