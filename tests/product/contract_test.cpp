#include <gtest/gtest.h>

#include "product/arguments.hpp"
#include "support/matrix.hpp"

namespace vernier::test::contract_test {
namespace {

// Of all contracts that there could be: those that routines take, and no others, are what parse() reads.
TEST(Contract, TextIsWhatParseReads) {
  using Kind = Contract::Kind;
  const auto is_taken = [](const Contract& contract) {
    try {
      check_contract("test", contract);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  const auto is_read = [](const Contract& contract) {
    try {
      return Contract::parse(contract.text()) == contract;
    } catch (const Error&) {
      return false;
    }
  };
  int taken = 0;
  for (const Kind kind : {Kind::fp32, Kind::fp64, Kind::normwise, Kind::bits, Kind::exact})
    for (int n = -3; n <= 130; ++n)
      for (const Rounding rounding : {Rounding::nearest, Rounding::down, Rounding::up, Rounding::toward_zero})
        for (const bool reproducible : {false, true})
          for (const Fallback fallback : {Fallback::native, Fallback::none}) {
            const Contract contract{kind, n, reproducible, fallback, rounding};
            EXPECT_EQ(is_read(contract), is_taken(contract)) << contract.text() << ", " << n << " bits";
            taken += is_taken(contract) ? 1 : 0;
          }
  EXPECT_EQ(taken, 4 * (2 * 107 + 2 + 4));
}

TEST(Contract, ReadsItsNames) {
  EXPECT_EQ(Contract::parse("fp32"), Contract::fp32());
  EXPECT_EQ(Contract::parse("fp64"), Contract::fp64());
  EXPECT_EQ(Contract::parse("fp64-normwise"), Contract::normwise());
  EXPECT_EQ(Contract::parse("bits(60)"), Contract::bits(60));
  EXPECT_EQ(Contract::parse("normwise(53)"), Contract::normwise());
  EXPECT_EQ(Contract::parse("normwise(60)").text(), "normwise(60)");
  EXPECT_EQ(Contract::parse("exact"), Contract::exact());
  EXPECT_EQ(Contract::fp32().bits_asked, 24);
  EXPECT_EQ(Contract::normwise().bits_asked, 53);
  const Contract both = Contract::parse("fp64+no-fallback+reproducible");
  EXPECT_TRUE(both.reproducible);
  EXPECT_EQ(both.fallback, Fallback::none);
  EXPECT_EQ(both.text(), "fp64+reproducible+no-fallback");
}

TEST(Contract, RefusesWhatItCannotReadAndSaysWhatItExpected) {
  for (const char* text : {"",
                           "fp",
                           "fp16",
                           "FP64",
                           " fp64",
                           "fp64 ",
                           "fp64-",
                           "exact(53)",
                           "fp64normwise",
                           "fp32-normwise",
                           "bits",
                           "bits()",
                           "bits(3)",
                           "bits(111)",
                           "normwise",
                           "normwise(3)",
                           "fp64-normwise(60)",
                           "bits(-5)",
                           "bits(60",
                           "bits 60",
                           "bits(60))",
                           "bits(6 0)",
                           "bits( 60)",
                           "bits(60.0)",
                           "bits(0x20)",
                           "bits(+60)",
                           "bits(99999999999)",
                           "bits(60)x",
                           "+",
                           "+reproducible",
                           "fp64+",
                           "fp64++reproducible",
                           "fp64+reproducible+",
                           "fp64+Reproducible",
                           "fp64+fallback",
                           "fp64 +reproducible",
                           "fp64,reproducible"}) {
    try {
      const Contract contract = Contract::parse(text);
      ADD_FAILURE() << '"' << text << "\" was read as " << contract.text();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
      EXPECT_NE(std::string(error.what()).find(joined('"', text, '"')), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("bits(n)"), std::string::npos) << error.what();
    }
  }
}

TEST(Contract, OfBitsTakesFourToOneHundredAndTen) {
  for (const int n : {-1, 0, 3, 111, 1 << 30}) EXPECT_THROW(Contract::bits(n), Error) << n;
  for (const int n : {4, 110}) EXPECT_EQ(Contract::bits(n).bits_asked, n);
}

}  // namespace
}  // namespace vernier::test::contract_test
