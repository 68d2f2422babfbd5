#include <gtest/gtest.h>

#include "support/matrix.hpp"

namespace vernier::test::contract_test {
namespace {

TEST(Contract, TextIsWhatParseReads) {
  std::vector<Contract> contracts = {Contract::fp32(), Contract::fp64(), Contract::normwise(), Contract::exact()};
  for (int n = 4; n <= 110; ++n) contracts.push_back(Contract::bits(n));
  for (Contract contract : contracts)
    for (const bool reproducible : {false, true})
      for (const Fallback fallback : {Fallback::native, Fallback::none}) {
        contract.reproducible = reproducible;
        contract.fallback = fallback;
        EXPECT_EQ(Contract::parse(contract.text()), contract) << contract.text();
      }
}

TEST(Contract, ReadsItsNames) {
  EXPECT_EQ(Contract::parse("fp32"), Contract::fp32());
  EXPECT_EQ(Contract::parse("fp64"), Contract::fp64());
  EXPECT_EQ(Contract::parse("fp64-normwise"), Contract::normwise());
  EXPECT_EQ(Contract::parse("bits(60)"), Contract::bits(60));
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
