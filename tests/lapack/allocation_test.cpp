// Factorisations and solves overwrite their matrices step by step: where memory fails, all is as it was.
#include <gtest/gtest.h>

#include <functional>

#include "support/compare.hpp"
#include "support/refused_memory.hpp"
#include "systems.hpp"
#include "vernier/verified.hpp"

#if VERNIER_REFUSES_MEMORY

namespace vernier::test::allocation_test {
namespace {

struct System {
  Matrix<double> a, b;
  std::int64_t n = a.rows(), nrhs = b.columns();
  Pivots pivots = Pivots(static_cast<std::size_t>(n));
};

struct Routine {
  const char* name;
  std::function<void(System&, const Options&)> run;
};

const Routine routines[] = {
    {"getrf", [](System& s, const Options& o) { (void)getrf(s.n, s.n, s.a.data(), s.n, s.pivots.data(), o); }},
    {"gesv", [](System& s,
                const Options& o) { (void)gesv(s.n, s.nrhs, s.a.data(), s.n, s.pivots.data(), s.b.data(), s.n, o); }},
    {"potrf", [](System& s, const Options& o) { (void)potrf(Uplo::lower, s.n, s.a.data(), s.n, o); }},
    {"posv",
     [](System& s, const Options& o) { (void)posv(Uplo::upper, s.n, s.nrhs, s.a.data(), s.n, s.b.data(), s.n, o); }},
    {"potrs",
     [](System& s, const Options& o) { potrs(Uplo::lower, s.n, s.nrhs, s.a.data(), s.n, s.b.data(), s.n, o); }},
    {"solve",
     [](System& s, const Options& o) {
       const Matrix<double> b = s.b;
       SolveOptions asked;
       asked.products = o;
       (void)solve(Op::none, s.n, s.nrhs, s.a.data(), s.n, b.data(), s.n, s.b.data(), s.n, asked);
     }},
};

// Far from singular, and symmetric positive definite.
System some_system(std::int64_t n, std::int64_t nrhs) {
  System s{scattered_matrix<double>(n, n, 0.5, 1), scattered_matrix<double>(n, nrhs, 0.5, 2)};
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < j; ++i) s.a(j, i) = s.a(i, j);
    s.a(j, j) = 1000;
  }
  return s;
}

// The largest difference of an entry, against the largest entry.
double relative_difference(const Matrix<double>& x, const Matrix<double>& y) {
  double difference = 0, largest = 0;
  for (std::int64_t j = 0; j < x.columns(); ++j)
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      difference = worse(difference, std::abs(x(i, j) - y(i, j)));
      largest = std::max(largest, std::abs(y(i, j)));
    }
  return difference / largest;
}

void expect_all_or_nothing(const Routine& routine, const System& before, const Options& options) {
  System expected = before, s;
  routine.run(expected, options);
  int failures = 0;
  const int sites = refuse_every_site([&] { s = before; }, [&] { routine.run(s, options); },
                                      [&](bool done) {
                                        failures += done ? 0 : 1;
                                        const System& wanted = done ? expected : before;
                                        const double bound = done ? 1000 * unit_roundoff<double> : 0;
                                        EXPECT_LE(relative_difference(s.a, wanted.a), bound) << routine.name;
                                        EXPECT_LE(relative_difference(s.b, wanted.b), bound) << routine.name;
                                      });
  EXPECT_GT(sites, 0) << routine.name;
  EXPECT_GT(failures, 0) << routine.name;
}

TEST(LapackAllocation, ThatFailsLeavesMatricesAsTheyWereOrIsDoneNatively) {
  Options options = with_contract("fp64");
  options.engine = "portable";
  for (const Routine& routine : routines) expect_all_or_nothing(routine, some_system(132, 6), options);
}

TEST(LapackAllocation, ThatFailsUnderReproducibleContractsLeavesMatricesAsTheyWere) {
  for (const Routine& routine : routines)
    expect_all_or_nothing(routine, some_system(40, 20), with_contract("fp64+reproducible"));
}

// Large enough for proofs by factors, which are made on many threads.
TEST(LapackAllocation, ThatFailsInAProofLeavesTheIntervalsAsTheyWere) {
  const Routine proof = {"verified_solve", [](System& s, const Options& o) {
                           const Matrix<double> b = s.b;
                           Matrix<double> high = s.b;
                           (void)verified_solve(s.n, s.nrhs, s.a.data(), s.n, b.data(), s.n, s.b.data(), high.data(),
                                                s.n, o);
                         }};
  Options options;
  options.threads = 2;
  expect_all_or_nothing(proof, some_system(260, 2), options);
}

}  // namespace
}  // namespace vernier::test::allocation_test

#endif
