// Errors are found before anything is done: in the reference BLAS's order, by name, with C as it was.
#include <functional>
#include <regex>

#include "fixture.hpp"
#include "vernier/level3.hpp"

namespace vernier::test::arguments_test {
namespace {

// The arguments of gemm that can be wrong.
struct Arguments {
  Op opa = Op::none, opb = Op::none;
  std::int64_t m = 6, n = 5, k = 4, lda = 6, ldb = 4, ldc = 6;
};

struct Mistake {
  std::string name;  // of the first wrong argument
  std::string title;
  std::function<void(Arguments&)> make;
};
std::ostream& operator<<(std::ostream& out, const Mistake& mistake) { return out << mistake.title; }

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> list = {
      {"opa", "opa_unknown", [](auto& x) { x.opa = static_cast<Op>('X'); }},
      {"opb", "opb_unknown", [](auto& x) { x.opb = static_cast<Op>('n'); }},
      {"m", "m_negative", [](auto& x) { x.m = -1; }},
      {"n", "n_negative", [](auto& x) { x.n = -1; }},
      {"k", "k_negative", [](auto& x) { x.k = -7; }},
      {"lda", "lda_below_m", [](auto& x) { x.lda = 5; }},
      {"lda", "lda_below_k_when_transposed", [](auto& x) { x.opa = Op::transpose, x.lda = 3; }},
      {"lda", "lda_zero_where_m_is_zero", [](auto& x) { x.m = 0, x.lda = 0; }},
      {"lda", "lda_negative", [](auto& x) { x.lda = -6; }},
      {"ldb", "ldb_below_k", [](auto& x) { x.ldb = 3; }},
      {"ldb", "ldb_below_n_when_transposed", [](auto& x) { x.opb = Op::conjugate_transpose, x.ldb = 4; }},
      {"ldb", "ldb_zero_where_k_is_zero", [](auto& x) { x.k = 0, x.ldb = 0; }},
      {"ldc", "ldc_below_m", [](auto& x) { x.ldc = 5; }},
      {"ldc", "ldc_zero_where_m_is_zero", [](auto& x) { x.m = 0, x.ldc = 0; }},
      {"lda", "lda_beyond_memory", [](auto& x) { x.lda = std::int64_t{1} << 41; }},
      {"ldb", "ldb_beyond_memory", [](auto& x) { x.ldb = INT64_MAX; }},
      {"ldc", "ldc_beyond_memory", [](auto& x) { x.ldc = std::int64_t{1} << 62; }},
      // Two and more at once: the first counts.
      {"opa", "opa_before_opb", [](auto& x) { x.opa = static_cast<Op>(0), x.opb = static_cast<Op>(1); }},
      {"opb", "opb_before_m", [](auto& x) { x.opb = static_cast<Op>('Q'), x.m = -1; }},
      {"m", "m_before_n_and_k", [](auto& x) { x.m = -1, x.n = -1, x.k = -1; }},
      {"n", "n_before_k", [](auto& x) { x.n = -2, x.k = -1; }},
      {"k", "k_before_leading_dimensions", [](auto& x) { x.k = -1, x.lda = 0, x.ldb = 0, x.ldc = 0; }},
      {"lda", "lda_before_ldb", [](auto& x) { x.lda = 1, x.ldb = 1; }},
      {"ldb", "ldb_before_ldc", [](auto& x) { x.ldb = 1, x.ldc = 1; }},
      {"lda", "lda_also_when_there_is_nothing_to_do", [](auto& x) { x.n = 0, x.lda = 2; }},
  };
  return list;
}

// The first argument of gemm that a message names.
std::string first_named(const std::string& message) {
  static const std::regex argument("\\b(opa|opb|m|n|k|lda|ldb|ldc)\\b");
  std::smatch match;
  return std::regex_search(message, match, argument) ? match[1].str() : joined("none in: ", message);
}

class WrongArgument : public testing::TestWithParam<Mistake> {};
INSTANTIATE_TEST_SUITE_P(Gemm, WrongArgument, testing::ValuesIn(mistakes()), ReadableName());

Options reproducible() {
  Options options;
  options.contract.reproducible = true;
  return options;
}

template <class T>
void expect_refusal(const Mistake& mistake) {
  Arguments x;
  mistake.make(x);
  const auto a = integer_matrix<T>(10, 10, 9, 1), c = integer_matrix<T>(10, 10, 9, 2);
  for (const T alpha : {T{1}, T{0}}) {
    Matrix<T> out = c;
    try {
      gemm<T>(x.opa, x.opb, x.m, x.n, x.k, alpha, a.data(), x.lda, a.data(), x.ldb, 0, out.data(), x.ldc);
      ADD_FAILURE() << "not refused, alpha " << alpha;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
      EXPECT_EQ(first_named(error.what()), mistake.name) << error.what();
    }
    EXPECT_EQ(difference(out, c), "");
  }
}

TEST_P(WrongArgument, IsNamedAndCIsUntouched) {
  expect_refusal<double>(GetParam());
  expect_refusal<float>(GetParam());
}

// status and message of what a call throws, C being untouched.
template <class T = double>
std::pair<Status, std::string> refusal(const Options& options, std::int64_t size = 50) {
  const auto a = scattered_matrix<T>(size, size, 0.5, 1), c = scattered_matrix<T>(size, size, 0.5, 2);
  Matrix<T> out = c;
  try {
    gemm<T>(Op::none, Op::none, size, size, size, 1, a.data(), size, a.data(), size, 1, out.data(), size, options);
  } catch (const Error& error) {
    EXPECT_EQ(difference(out, c), "");
    return {error.status(), error.what()};
  }
  return {Status::ok, "not refused"};
}

TEST(WrongOption, EngineOfAnUnknownNameIsRefusedByName) {
  for (const std::string name : {"nonsense", "AVX2", "portable ", "*", "native2"}) {
    Options options = reproducible();
    options.engine = name;
    const auto [status, message] = refusal(options);
    EXPECT_EQ(status, Status::invalid_argument) << message;
    EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_NE(message.find("portable"), std::string::npos) << "names what there is: " << message;
  }
}

TEST(WrongOption, EngineThatThisMachineLacksIsUnsupported) {
  for (const EngineInfo& engine : engines()) {
    EXPECT_EQ(engine.supported, engine.missing.empty()) << engine.name;
    if (engine.supported) continue;
    Options options = reproducible();
    options.engine = engine.name;
    const auto [status, message] = refusal(options);
    EXPECT_EQ(status, Status::unsupported) << message;
    EXPECT_NE(message.find(engine.name), std::string::npos) << message;
    EXPECT_NE(message.find(engine.missing), std::string::npos) << message;
  }
}

TEST(WrongOption, NumberOfBitsOutOfRangeIsRefused) {
  for (const int bits : {-1, 0, 3, 111, 1000}) {
    EXPECT_THROW(Contract::bits(bits), Error) << bits;
    Options options = reproducible();
    options.contract = Contract::bits(20);
    options.contract.bits_asked = bits;
    EXPECT_EQ(refusal(options).first, Status::invalid_argument) << bits;
  }
  EXPECT_EQ(Contract::bits(4).bits_asked, 4);
  EXPECT_EQ(Contract::bits(110).bits_asked, 110);
}

TEST(WrongOption, ThreadsBelowZeroAreRefused) {
  Options options = reproducible();
  options.threads = -1;
  const auto [status, message] = refusal(options);
  EXPECT_EQ(status, Status::invalid_argument);
  EXPECT_NE(message.find("threads"), std::string::npos) << message;
}

TEST(WrongOption, WorkspaceBelowTheLeastIsRefusedWithWhatIsNeeded) {
  Options options = reproducible();
  const std::size_t least = gemm_workspace<double>(50, 50, 50, options, true);
  std::vector<std::byte> memory(64);
  for (const bool own : {true, false}) {
    Options small = options;
    if (own) {
      small.workspace = memory.data();
      small.workspace_bytes = memory.size();
    } else {
      small.workspace_limit = 64;
    }
    const auto [status, message] = refusal(small);
    EXPECT_TRUE(status == Status::out_of_memory || status == Status::invalid_argument) << message;
    EXPECT_NE(message.find("workspace"), std::string::npos) << message;
    EXPECT_NE(message.find(std::to_string(least)), std::string::npos)
        << "tells the least, " << least << ": " << message;
  }
}

TEST(ContractText, IsReadBack) {
  for (const std::string text : {"fp64", "fp32", "fp64-normwise", "bits(60)", "bits(4)+reproducible",
                                 "fp64+no-fallback", "fp64-normwise+reproducible+no-fallback"}) {
    EXPECT_EQ(Contract::parse(text).text(), text);
    EXPECT_EQ(Contract::parse(Contract::parse(text).text()), Contract::parse(text));
  }
  EXPECT_EQ(Contract::parse("fp64+no-fallback+reproducible"), Contract::parse("fp64+reproducible+no-fallback"));
  EXPECT_EQ(Contract::parse("fp32"), Contract::fp32());
  EXPECT_EQ(Contract::parse("fp64"), Contract::fp64());
  EXPECT_EQ(Contract::parse("fp64-normwise"), Contract::normwise());
  EXPECT_EQ(Contract::parse("bits(77)"), Contract::bits(77));
  EXPECT_TRUE(Contract::parse("fp32+reproducible").reproducible);
  EXPECT_EQ(Contract::parse("fp32+no-fallback").fallback, Fallback::none);
}

TEST(ContractText, ThatMeansNothingIsRefusedAndQuoted) {
  for (const std::string text : {"fp16",
                                 "FP64",
                                 "fp64 ",
                                 " fp64",
                                 "fp64+",
                                 "fp64+fast",
                                 "fp64-",
                                 "fp32-normwise",
                                 "bits",
                                 "bits(",
                                 "bits()",
                                 "bits(x)",
                                 "bits(60",
                                 "bits(60)x",
                                 "bits(3)",
                                 "bits(111)",
                                 "bits(-5)",
                                 "bits(6 0)",
                                 "bits(99999999999)",
                                 "bits(4.5)",
                                 "fp64++reproducible",
                                 "reproducible"}) {
    try {
      Contract::parse(text);
      ADD_FAILURE() << "not refused: '" << text << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(Contract::parse(""), Error);
}

// Sizes in bytes that 64 bits do not hold: found before anything is read or allocated.
TEST(Areas, BeyondAnyMemoryAreRefusedByEveryRoutine) {
  constexpr std::int64_t order = std::int64_t{1} << 32;
  double x = 0, c = 7;
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"gemm",
       [&] { gemm<double>(Op::none, Op::none, order, order, 1, 1, &x, order, &x, 1, 0, &c, order, Options{}); }},
      {"gemm", [&] { gemm<double>(Op::none, Op::none, 1, order, order, 1, &x, 1, &x, order, 0, &c, 1, Options{}); }},
      {"gemmt",
       [&] { gemmt<double>(Uplo::lower, Op::none, Op::none, order, 1, 1, &x, order, &x, 1, 0, &c, order, Options{}); }},
      {"syrk", [&] { syrk<double>(Uplo::lower, Op::none, order, 1, 1, &x, order, 0, &c, order, Options{}); }},
      {"syr2k",
       [&] { syr2k<double>(Uplo::upper, Op::none, order, 1, 1, &x, order, &x, order, 0, &c, order, Options{}); }},
      {"symm",
       [&] { symm<double>(Side::left, Uplo::lower, order, 1, 1, &x, order, &x, order, 0, &c, order, Options{}); }},
      {"trmm",
       [&] {
         trmm<double>(Side::left, Uplo::lower, Op::none, Diag::unit, order, 1, 1, &x, order, &c, order, Options{});
       }},
      {"trsm",
       [&] { trsm<double>(Side::right, Uplo::lower, Op::none, Diag::unit, 1, order, 1, &x, order, &c, 1, Options{}); }},
  };
  for (const auto& [routine, call] : calls) {
    try {
      call();
      ADD_FAILURE() << routine << ": not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument) << error.what();
      EXPECT_NE(std::string(error.what()).find(std::string(routine) + ": a matrix of"), std::string::npos)
          << error.what();
    }
    EXPECT_EQ(c, 7);
  }
}

}  // namespace
}  // namespace vernier::test::arguments_test
