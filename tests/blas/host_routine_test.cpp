// Level 3 with matrices of the host on a device, whole: the bits of the CPU, only the triangle written, C untouched or
// complete where the device fails. The device lies in memory of the host, and its routines are the CPU's.
#include "blas/offload/host_routine.hpp"

#include <cstring>

#include "array.hpp"
#include "fake_target.hpp"
#include "fixture.hpp"
#include "support/error_message.hpp"

namespace vernier::test::host_routine_test {
namespace {

constexpr std::int64_t m = 41, n = 37, k = 53, pad = 3;

Options reproducible_fp64() {
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  options.threads = 2;
  return options;
}

template <class T>
class HostRoutines : public testing::Test {
 protected:
  Array<T> numbers(std::int64_t rows, std::int64_t columns) {
    return filled<T>(rows, columns, [this] { return random_.scattered(1); });
  }
  static bool same_bits(const Array<T>& x, const Array<T>& y) {
    return std::memcmp(x.x.data(), y.x.data(), x.x.size() * sizeof(T)) == 0;
  }

  // syr2k of op(A) and op(B), n x k, into the triangle of c, whose leading dimension is c.rows.
  Report on_cpu(Uplo uplo, Op op, T beta, const Array<T>& a, const Array<T>& b, Array<T>& c, const Options& o) const {
    return syr2k<T>(uplo, op, n, k, T{2}, a.x.data(), a.rows, b.x.data(), b.rows, beta, c.x.data(), c.rows, o);
  }
  std::optional<Report> on_device(Uplo uplo, Op op, T beta, const Array<T>& a, const Array<T>& b, Array<T>& c,
                                  const OffloadTarget<T>& target) const {
    const HostRoutine<T> r{"syr2k",
                           {n, n, k},
                           stored_operand(op, a.x.data(), n, k, a.rows),
                           stored_operand(op, b.x.data(), n, k, b.rows),
                           {c.x.data(), n, n, c.rows},
                           beta != T{0},
                           uplo};
    return offloaded_routine<T>(
        r, options_, target, settings_,
        [&](const RoutineOperands<T>& x, void*) {
          return syr2k<T>(uplo, op, n, k, T{2}, x.a, x.lda, x.b, x.ldb, beta, x.c, x.ldc, options_);
        },
        [&](const Options& o) { return on_cpu(uplo, op, beta, a, b, c, o); });
  }

  Options options_ = reproducible_fp64();
  Random random_{31};
  const offload::TransferSettings settings_{.threads = 2, .piece_bytes = 1000};
};

using Types = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(HostRoutines, Types);

TYPED_TEST(HostRoutines, WriteTheTriangleWithTheBitsOfTheCpu) {
  using T = TypeParam;
  for (const Uplo uplo : {Uplo::lower, Uplo::upper})
    for (const Op op : {Op::none, Op::transpose})
      for (const T beta : {T{0}, T{-3}}) {
        const bool turned = op != Op::none;
        const Array<T> a = this->numbers((turned ? k : n) + pad, turned ? n : k),
                       b = this->numbers((turned ? k : n) + pad, turned ? n : k), before = this->numbers(n + pad, n);
        Array<T> c = before, expected = before;
        const auto target = fake_target<T>(this->options_.contract, 7);
        const auto report = this->on_device(uplo, op, beta, a, b, c, target);
        ASSERT_TRUE(report);
        EXPECT_EQ(report->plan.routine, "syr2k");
        EXPECT_NE(report->plan.reason.find("whole on a fake device"), std::string::npos) << report->plan.reason;
        this->on_cpu(uplo, op, beta, a, b, expected, this->options_);
        EXPECT_TRUE(this->same_bits(c, expected));
      }
}

TYPED_TEST(HostRoutines, SolveInPlaceWithOneOperand) {
  using T = TypeParam;
  Array<T> a = this->numbers(m + pad, m), c = this->numbers(m + pad, n);
  for (std::int64_t i = 0; i < m; ++i) a(i, i) = T{20};
  Array<T> expected = c;
  const auto solve = [&](const T* left, std::int64_t lda, T* x, std::int64_t ldx, const Options& o) {
    return trsm<T>(Side::left, Uplo::lower, Op::none, Diag::non_unit, m, n, T{2}, left, lda, x, ldx, o);
  };
  const HostRoutine<T> r{"trsm", {m, n, m}, {a.x.data(), m, m, a.rows}, {}, {c.x.data(), m, n, c.rows}, true};
  ASSERT_TRUE(offloaded_routine<T>(
      r, this->options_, fake_target<T>(this->options_.contract, 3), this->settings_,
      [&](const RoutineOperands<T>& x, void*) { return solve(x.a, x.lda, x.c, x.ldc, this->options_); },
      [&](const Options& o) { return solve(a.x.data(), a.rows, c.x.data(), c.rows, o); }));
  solve(a.x.data(), a.rows, expected.x.data(), expected.rows, this->options_);
  EXPECT_TRUE(this->same_bits(c, expected));
}

TYPED_TEST(HostRoutines, MayHaveNoOperandButTheOutput) {
  using T = TypeParam;
  const Array<T> before = this->numbers(n + pad, n);
  Array<T> c = before, expected = before;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i <= j; ++i) expected(i, j) *= T{2};
  const HostRoutine<T> r{"potrf", {n, n, n}, {}, {}, {c.x.data(), n, n, c.rows}, true, Uplo::upper};
  const auto doubled = [](const RoutineOperands<T>& x, void*) {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) x.c[i + j * x.ldc] *= T{2};
    return Report{};
  };
  ASSERT_TRUE(offloaded_routine<T>(r, this->options_, fake_target<T>(this->options_.contract, 3), this->settings_,
                                   doubled, [](const Options&) { return Report{}; }));
  EXPECT_TRUE(this->same_bits(c, expected));
}

struct Answer {
  std::string reason;
};

// Of a solver, say: words go to its reason, and none where nothing moved.
TYPED_TEST(HostRoutines, TellWhereInWhatARoutineReturns) {
  using T = TypeParam;
  Array<T> c = this->numbers(n, n);
  auto target = fake_target<T>(this->options_.contract, 3);
  const HostRoutine<T> r{"solve", {n, n, n}, {}, {}, {c.x.data(), n, n, n}, true};
  const auto answer = [&] {
    return offloaded_routine<T>(
               r, this->options_, target, this->settings_, [](const RoutineOperands<T>&, void*) { return Answer{}; },
               [](const Options&) { return Answer{}; })
        ->reason;
  };
  EXPECT_EQ(answer(), "matrices of the host: whole on a fake device");
  target.memory_of = [](const void*, const void*) { return offload::Memory::managed; };
  EXPECT_EQ(answer(), "");
}

TYPED_TEST(HostRoutines, AreTheCpusWhereADeviceIsLostBeforeAnythingMoves) {
  using T = TypeParam;
  const Array<T> a = this->numbers(n, k), b = this->numbers(n, k), before = this->numbers(n, n);
  Array<T> c = before, expected = before;
  auto target = fake_target<T>(this->options_.contract, 5);
  target.free_memory = [](int) -> std::size_t { fail(Status::device_error, "the device is lost"); };
  const auto report = this->on_device(Uplo::lower, Op::none, T{1}, a, b, c, target);
  ASSERT_TRUE(report);
  EXPECT_NE(report->plan.reason.find("on the CPU: the device is lost"), std::string::npos) << report->plan.reason;
  this->on_cpu(Uplo::lower, Op::none, T{1}, a, b, expected, this->options_);
  EXPECT_TRUE(this->same_bits(c, expected));
  target.devices = 0;
  EXPECT_FALSE(this->on_device(Uplo::lower, Op::none, T{1}, a, b, c, target));
}

TYPED_TEST(HostRoutines, AreTheCpusWhereverTheDeviceFails) {
  using T = TypeParam;
  const Array<T> a = this->numbers(n + pad, k), b = this->numbers(n + pad, k), before = this->numbers(n + pad, n);
  Array<T> expected = before;
  this->on_cpu(Uplo::lower, Op::none, T{1}, a, b, expected, this->options_);
  Fault fault;
  const auto run = [&](Array<T>& c) {
    fault.calls = 0;
    const auto target = fake_target<T>(this->options_.contract, 5, &fault);
    return this->on_device(Uplo::lower, Op::none, T{1}, a, b, c, target);
  };
  Array<T> whole = before;
  run(whole);
  const int calls = fault.calls;
  ASSERT_GT(calls, 10);
  int failed = 0;
  for (int call = 0; call < calls; call += 7) {
    fault.at_call = call;
    Array<T> c = before;
    const auto report = run(c);
    ASSERT_TRUE(report);
    EXPECT_TRUE(this->same_bits(c, expected)) << "call " << call;
    failed += report->plan.reason.find("the fake device fails") != std::string::npos;
  }
  EXPECT_GT(failed, 3);
}

TYPED_TEST(HostRoutines, LeaveToTheCpuWhatTheDeviceDoesNotHold) {
  using T = TypeParam;
  const Array<T> a = this->numbers(n, k), b = this->numbers(n, k), before = this->numbers(n, n);
  Array<T> c = before;
  auto target = fake_target<T>(this->options_.contract, 5);
  target.free_memory = [](int) { return std::size_t{2000}; };
  EXPECT_FALSE(this->on_device(Uplo::lower, Op::none, T{1}, a, b, c, target));
  EXPECT_TRUE(this->same_bits(c, before));
}

TYPED_TEST(HostRoutines, UseDeviceMemoryWhereItIsAndRefuseAMixture) {
  using T = TypeParam;
  const Array<T> a = this->numbers(n, k), b = this->numbers(n, k), before = this->numbers(n, n);
  Array<T> c = before, expected = before;
  auto target = fake_target<T>(this->options_.contract, 5);
  target.link = [](int, offload::BlockProduct) -> std::unique_ptr<offload::Link> {
    ADD_FAILURE() << "nothing is to move";
    return {};
  };
  target.memory_of = [](const void*, const void*) { return offload::Memory::device; };
  int waits = 0;
  target.synchronize = [&] { ++waits; };
  const auto run = [&] { return this->on_device(Uplo::upper, Op::none, T{1}, a, b, c, target); };
  ASSERT_TRUE(run());
  EXPECT_EQ(waits, 1);
  this->on_cpu(Uplo::upper, Op::none, T{1}, a, b, expected, this->options_);
  EXPECT_TRUE(this->same_bits(c, expected));
  target.memory_of = [&](const void* first, const void*) {
    return first == b.x.data() ? offload::Memory::device : offload::Memory::pageable;
  };
  EXPECT_EQ(message([&] { run(); }),
            "syr2k: B is in memory of a GPU; expected all of A, B and C there, or none of them");
}

}  // namespace
}  // namespace vernier::test::host_routine_test
