// One product, one set of bits: whatever the engine, the threads, the workspace, the storage and the company.
#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstddef>
#include <thread>

#include "fixture.hpp"

namespace vernier::test::same_bits_test {
namespace {

class SameBits : public PerEngine {
 protected:
  // Tiles cut on all sides, more than one block of anything, a wide row and column, and NaN and infinity.
  template <class T>
  static Call<T> awkward_call() {
    auto [a, b] = make_operands<T>("wide_row_against_wide_column", 131, 117, 210, 41);
    a(7, 9) = std::numeric_limits<T>::quiet_NaN();
    b(11, 13) = std::numeric_limits<T>::infinity();
    return {.a = a, .b = b, .alpha = T{1} / 3, .beta = T{0.7f}, .c = scattered_matrix<T>(131, 117, 0.5, 42)};
  }

  template <class T>
  Matrix<T> reference(const Call<T>& call, Options options) {
    options.threads = 1;
    return multiply(call, options).c;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, SameBits, testing::ValuesIn(engine_cases()), ReadableName());

TEST_P(SameBits, OnEveryEngine) {
  with_type([this]<class T>(T) {
    for (const Contract& contract : {Contract::fp64(), Contract::fp32(), Contract::normwise(), Contract::bits(70)}) {
      const Options mine = options<T>(contract);
      for (const std::string family :
           {"random_phi_2", "wide_row", "graded_inner_index", "near_overflow", "subnormal_products"}) {
        const auto [a, b] = make_operands<T>(family, 70, 67, 130, 43);
        const Matrix<T> expected = reference<T>({.a = a, .b = b}, mine);
        for (const std::string& engine : supported_engines()) {
          Options other = mine;
          other.engine = engine;
          EXPECT_EQ(difference(multiply<T>({.a = a, .b = b}, other).c, expected), "") << engine << ", " << family;
        }
      }
    }
  });
}

// Matrix engines that round their sums, of four kinds: the plan cuts k to what each holds.
TEST(SameBitsOnModels, OfTensorCoresAndAmx) {
  const auto [a, b] = make_operands<double>("random_phi_2", 20, 20, 1100, 44);
  Options options{.contract = Contract::parse("fp64+reproducible"), .engine = "portable"};
  const Matrix<double> expected = multiply<double>({.a = a, .b = b}, options).c;
  for (const char* row : {"hopper-wgmma-fp16-fp32", "ampere-bf16-fp32", "amx-bf16", "nvidia-int8"}) {
    options.engine = std::string("model:") + row;
    const auto outcome = multiply<double>({.a = a, .b = b}, options);
    EXPECT_EQ(difference(outcome.c, expected), "") << row;
    EXPECT_EQ(outcome.report.plan.engine, options.engine);
    EXPECT_EQ(outcome.report.plan.k_block < 1100, std::string(row) != "nvidia-int8") << row;
  }
}

TEST_P(SameBits, OnEveryEngineWithNanInfinityAlphaAndBeta) {
  with_type([this]<class T>(T) {
    const Call<T> call = awkward_call<T>();
    const Matrix<T> expected = reference(call, options<T>());
    for (const std::string& engine : supported_engines()) {
      Options other = options<T>();
      other.engine = engine;
      EXPECT_EQ(difference(multiply(call, other).c, expected), "") << engine;
    }
  });
}

TEST_P(SameBits, OnEveryNumberOfThreads) {
  with_type([this]<class T>(T) {
    const Call<T> call = awkward_call<T>();
    Options changed = options<T>();
    const Matrix<T> expected = reference(call, changed);
    for (const int threads : {2, 3, 5, 0}) {
      changed.threads = threads;
      const auto out = multiply(call, changed);
      EXPECT_EQ(difference(out.c, expected), "") << threads << " threads";
      EXPECT_GE(out.report.plan.threads, 1);
      EXPECT_LE(out.report.plan.threads, threads > 0 ? threads : std::numeric_limits<int>::max());
    }
  });
}

TEST_P(SameBits, OnEveryCall) {
  with_type([this]<class T>(T) {
    const Call<T> call = awkward_call<T>();
    const Matrix<T> expected = reference(call, options<T>());
    for (int repeat = 0; repeat < 5; ++repeat) {
      if (repeat == 3) release_workspace();
      EXPECT_EQ(difference(multiply(call, options<T>()).c, expected), "") << "call " << repeat;
    }
  });
}

TEST_P(SameBits, UnderEveryRoundingModeWhichStaysTheCallers) {
  with_type([this]<class T>(T) {
    for (const char* family : {"random_phi_4", "subnormal_products"}) {
      const auto [a, b] = make_operands<T>(family, 70, 50, 90, 47);
      const Matrix<T> expected = reference<T>({.a = a, .b = b}, options<T>(Contract::fp64()));
      for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::fesetround(mode);
        const auto out = multiply<T>({.a = a, .b = b}, options<T>(Contract::fp64()));
        const int after = std::fegetround();
        std::fesetround(FE_TONEAREST);
        EXPECT_EQ(after, mode);
        EXPECT_EQ(difference(out.c, expected), "") << family << ", rounding mode " << mode;
      }
    }
  });
}

TEST_P(SameBits, UnderEveryWorkspaceLimit) {
  with_type([this]<class T>(T) {
    for (Call<T> call : {awkward_call<T>(), Call<T>{.a = scattered_matrix<T>(300, 65, 0.5, 44),
                                            .b = scattered_matrix<T>(65, 333, 0.5, 45)}}) {
      Options limited = options<T>();
      const std::int64_t m = call.a.rows(), n = call.b.columns(), k = call.a.columns();
      const std::size_t least = gemm_workspace<T>(m, n, k, limited, true), full = gemm_workspace<T>(m, n, k, limited);
      ASSERT_GT(least, 0u);
      ASSERT_LE(least, full);
      const Matrix<T> expected = reference(call, limited);
      for (const std::size_t limit :
           {least, least + 4096, least + least / 2, 2 * least, 4 * least, (least + full) / 2, full}) {
        limited.workspace_limit = limit;
        const auto out = multiply(call, limited);
        EXPECT_EQ(difference(out.c, expected), "") << "limit " << limit;
        EXPECT_LE(out.report.plan.workspace, limit);
      }
    }
  });
}

TEST_P(SameBits, InTheCallersOwnWorkspaceAndNothingIsWrittenBehindIt) {
  with_type([this]<class T>(T) {
    const Call<T> call = awkward_call<T>();
    Options own = options<T>();
    const Matrix<T> expected = reference(call, own);
    for (const bool least : {true, false}) {
      const std::size_t bytes = gemm_workspace<T>(call.a.rows(), call.b.columns(), call.a.columns(), own, least);
      for (const std::size_t offset : {0, 1, 8, 1000}) {
        const std::byte mark{0xa5};
        std::vector<std::byte> memory(offset + bytes + 4096, mark);
        own.workspace = memory.data() + offset;
        own.workspace_bytes = bytes;
        EXPECT_EQ(difference(multiply(call, own).c, expected), "") << "offset " << offset;
        for (std::size_t p = 0; p < memory.size(); ++p) {
          if (p == offset) p += bytes;
          ASSERT_EQ(memory[p], mark) << "byte " << p << ", workspace of " << bytes << " at " << offset;
        }
      }
      own.workspace = nullptr;
      own.workspace_bytes = 0;
    }
  });
}

TEST_P(SameBits, InAWorkspaceOfTheSizeThatIsToldForAnyShape) {
  with_type([this]<class T>(T) {
    for (const auto& [m, n, k] : {std::tuple{1, 1, 1}, {1, 300, 2}, {300, 1, 40}, {33, 5, 3000}, {64, 64, 64}})
      for (const Contract& contract : {Contract::fp32(), Contract::fp64(), Contract::bits(4), Contract::bits(110)}) {
        const auto [a, b] = make_operands<T>("wide_row_against_wide_column", m, n, k, 49);
        Options own = options<T>(contract);
        const Matrix<T> expected = reference<T>({.a = a, .b = b}, own);
        for (const bool least : {true, false}) {
          std::vector<std::byte> memory(gemm_workspace<T>(m, n, k, own, least));
          own.workspace = memory.data();
          own.workspace_bytes = memory.size();
          EXPECT_NO_THROW(EXPECT_EQ(difference(multiply<T>({.a = a, .b = b}, own).c, expected), ""))
              << joined(m, " x ", n, " x ", k, ", ", contract.text(), ", least ", least);
        }
      }
  });
}

TEST_P(SameBits, FromEveryStorageOfTheOperands) {
  with_type([this]<class T>(T) {
    Call<T> call = awkward_call<T>();
    const Matrix<T> expected = reference(call, options<T>());
    for (const Op opa : all_ops)
      for (const Op opb : all_ops)
        for (const std::int64_t pad : {0, 1, 7}) {
          call.opa = opa, call.opb = opb;
          call.pad_a = pad, call.pad_b = 2 * pad, call.pad_c = 3 * pad;
          EXPECT_EQ(difference(multiply(call, options<T>()).c, expected), "")
              << text(opa) << text(opb) << ", pad " << pad;
        }
  });
}

// Nothing that decides about the result depends on the order of rows, of columns or of the inner index.
TEST_P(SameBits, InEveryOrderOfTheIndices) {
  with_type([this]<class T>(T) {
    for (const std::string family : {"random_phi_2", "wide_row", "cancelling", "sparse"}) {
      const auto [a, b] = make_operands<T>(family, 70, 75, 140, 46);
      const Matrix<T> expected = reference<T>({.a = a, .b = b}, options<T>());
      Random random(47);
      const auto inner = random.permutation(140), rows = random.permutation(70), columns = random.permutation(75);
      const auto mixed_a = transposed(rows_in_order(transposed(rows_in_order(a, rows)), inner));
      const auto mixed_b = rows_in_order(transposed(rows_in_order(transposed(b), columns)), inner);
      const auto mixed_c = transposed(rows_in_order(transposed(rows_in_order(expected, rows)), columns));
      EXPECT_EQ(difference(multiply<T>({.a = mixed_a, .b = mixed_b}, options<T>()).c, mixed_c), "") << family;
    }
  });
}

TEST_P(SameBits, WhenManyThreadsCallAtOnce) {
  with_type([this]<class T>(T) {
    constexpr int callers = 6;
    std::vector<Call<T>> calls;
    std::vector<Matrix<T>> expected;
    for (int c = 0; c < callers; ++c) {
      const auto [a, b] =
          make_operands<T>("wide_row", 40 + 9 * c, 97 - 8 * c, 60 + 20 * c, 48 + static_cast<std::uint64_t>(c));
      calls.push_back({.a = a, .b = b});
      expected.push_back(reference(calls.back(), options<T>()));
    }
    std::vector<std::string> messages(callers);
    std::atomic<int> ready = 0;
    const auto caller = [&](int c) {
      ++ready;
      while (ready < callers) std::this_thread::yield();
      for (int repeat = 0; repeat < 8; ++repeat) {
        const auto which = static_cast<std::size_t>((c + repeat) % callers);
        Options mine = options<T>();
        mine.threads = 1 + (c + repeat) % 3;
        messages[static_cast<std::size_t>(c)] += difference(multiply(calls[which], mine).c, expected[which]);
      }
    };
    std::vector<std::thread> threads;
    for (int c = 0; c < callers; ++c) threads.emplace_back(caller, c);
    for (std::thread& thread : threads) thread.join();
    for (const std::string& message : messages) EXPECT_EQ(message, "");
  });
}

TEST_P(SameBits, AndProgressIsToldFromTheCallingThread) {
  with_type([this]<class T>(T) {
    const Call<T> call{.a = scattered_matrix<T>(400, 150, 0.5, 60), .b = scattered_matrix<T>(150, 400, 0.5, 61)};
    Options told = options<T>();
    const Matrix<T> expected = reference(call, told);
    told.workspace_limit = gemm_workspace<T>(400, 400, 150, told, true);
    std::vector<double> fractions;
    bool same_thread = true;
    told.progress = [&, self = std::this_thread::get_id()](double fraction) {
      same_thread = same_thread && std::this_thread::get_id() == self;
      fractions.push_back(fraction);
    };
    EXPECT_EQ(difference(multiply(call, told).c, expected), "");
    EXPECT_TRUE(same_thread);
    ASSERT_FALSE(fractions.empty());
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
    EXPECT_GE(fractions.front(), 0);
    EXPECT_EQ(fractions.back(), 1);
  });
}

// By one block: the fractions between come from its stages.
TEST_P(SameBits, AndProgressRisesWithinABlockAndEndsWithOne) {
  with_type([this]<class T>(T) {
    const std::int64_t size = 200;
    const Call<T> call{.a = scattered_matrix<T>(size, size, 0.5, 60), .b = scattered_matrix<T>(size, size, 0.5, 61)};
    for (const Contract& contract : {default_contract<T>(), Contract::exact()}) {
      Options told = options<T>();
      told.contract = contract;
      told.contract.reproducible = true;
      told.threads = 1;  // others may take all that is told about
      std::vector<double> fractions;
      told.progress = [&](double fraction) { fractions.push_back(fraction); };
      const Plan plan = explain<T>(Op::none, Op::none, size, size, size, told);
      ASSERT_EQ(std::pair(plan.m_block, plan.n_block), std::pair(size, size));
      multiply(call, told);
      EXPECT_LE(fractions.size(), 101u);
      EXPECT_TRUE(std::adjacent_find(fractions.begin(), fractions.end(), std::greater_equal<>()) ==
                  fractions.end());  // each above the last
      EXPECT_EQ(fractions.empty() ? 0 : fractions.back(), 1) << contract.text();
      const auto between = std::count_if(fractions.begin(), fractions.end(), [](double f) { return 0 < f && f < 1; });
      EXPECT_GE(between, 2) << contract.text();
    }
  });
}

}  // namespace
}  // namespace vernier::test::same_bits_test
