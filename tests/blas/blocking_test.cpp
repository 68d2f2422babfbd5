#include "residue/plan/blocking.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/environment.hpp"
#include "base/workspace.hpp"
#include "blas/plan.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/residues.hpp"
#include "support/data_limit.hpp"
#include "support/matrix.hpp"

namespace vernier::test::blocking_test {
namespace {

constexpr ProductShape shapes[] = {{1, 1, 1},          {33, 31, 65},    {100, 2000, 300},    {5000, 40, 7000},
                                   {4096, 4096, 4096}, {64, 64, 40000}, {70000, 70000, 100}, {300, 200, 1000000}};

constexpr std::size_t unlimited = ~std::size_t{0};

std::string described(const ProductShape& s) { return joined(s.m, " x ", s.n, " x ", s.k); }

// Calls look(blocking, shape, engine, limit, text) for many shapes, engines, moduli, threads and limits.
template <class Look>
void for_all_blockings(Look look) {
  for (const ProductShape& shape : shapes)
    for (const Int8Engine* engine : int8_engines())
      for (const int moduli : {2, 7, 15, 49})
        for (const int threads : {1, 2, 64})
          for (const std::size_t limit :
               {std::size_t{0}, std::size_t{1} << 20, std::size_t{20} << 20, std::size_t{1} << 30, unlimited}) {
            look(choose_blocking(shape, moduli, threads, *engine, limit), shape, *engine, limit,
                 joined(described(shape), ", ", engine->name(), ", ", moduli, " moduli, ", threads, " threads, limit ",
                        limit));
            if (testing::Test::HasFatalFailure()) return;
          }
}

TEST(Blocking, FitsItsLimitOrIsTheSmallest) {
  for_all_blockings(
      [](const Blocking& b, const ProductShape& s, const Int8Engine& e, std::size_t limit, const std::string& text) {
        const std::size_t least = choose_blocking(s, b.moduli, b.threads, e, 0).bytes;
        if (limit >= least) {
          ASSERT_LE(b.bytes, limit) << text;
        } else {
          ASSERT_EQ(b.bytes, least) << text;
          ASSERT_GT(b.bytes, limit) << text;
        }
        ASSERT_GE(b.bytes, least) << text;
      });
}

TEST(Blocking, HasWholeStripsAndSteps) {
  for_all_blockings(
      [](const Blocking& b, const ProductShape& s, const Int8Engine& e, std::size_t, const std::string& text) {
        for (const auto& [block, size, unit] :
             {std::tuple{b.m_block, s.m, strip_size}, {b.n_block, s.n, strip_size}, {b.k_block, s.k, step_size}}) {
          ASSERT_GE(block, unit) << text;
          ASSERT_EQ(block % unit, 0) << text;
          ASSERT_LE(block, round_up(size, unit)) << text;
        }
        ASSERT_LE(b.k_block, e.longest_k()) << text;
        ASSERT_TRUE(b.item.rows >= 1 && b.item.rows <= b.m_block / strip_size) << text;
        ASSERT_TRUE(b.item.columns >= 1 && b.item.columns <= b.n_block / strip_size) << text;
      });
}

// Whole planes of n = 1024 for two threads: the second-level cache holds them, and the last ones are cut later.
TEST(Blocking, CutsPlanesNoMoreThanThreadsNeed) {
  const Int8Engine& engine = *int8_engines().front();
  const auto item = [&](std::int64_t n, int threads) {
    const StripCounts item = choose_blocking({n, n, n}, 15, threads, engine, unlimited).item;
    return std::pair{item.rows, item.columns};
  };
  EXPECT_EQ(item(1024, 2), std::pair(std::int64_t{32}, std::int64_t{32}));
  EXPECT_EQ(item(4096, 2), std::pair(std::int64_t{32}, std::int64_t{128}));
  EXPECT_EQ(item(1024, 16), std::pair(std::int64_t{16}, std::int64_t{16}));
  EXPECT_EQ(item(4096, 16), std::pair(std::int64_t{16}, std::int64_t{32}));
  EXPECT_EQ(item(1024, 64), std::pair(std::int64_t{8}, std::int64_t{8}));
}

TEST(Blocking, WithoutALimitIsOneBlockOfC) {
  for_all_blockings(
      [](const Blocking& b, const ProductShape& s, const Int8Engine& e, std::size_t limit, const std::string& text) {
        if (limit != unlimited) return;
        ASSERT_EQ(b.m_block, round_up(s.m, strip_size)) << text;
        ASSERT_EQ(b.n_block, round_up(s.n, strip_size)) << text;
        if (s.k <= e.longest_k()) {
          ASSERT_EQ(b.k_block, round_up(s.k, step_size)) << text;
        }
      });
}

TEST(Blocking, MoreMemoryNeverMakesSmallerBlocks) {
  for (const ProductShape& shape : shapes) {
    Blocking before;
    for (std::size_t limit = 1 << 16; limit <= std::size_t{1} << 34; limit *= 2) {
      const Blocking b = choose_blocking(shape, 15, 2, *int8_engines().back(), limit);
      EXPECT_GE(b.m_block, before.m_block) << described(shape);
      EXPECT_GE(b.n_block, before.n_block) << described(shape);
      EXPECT_GE(b.k_block, before.k_block) << described(shape);
      before = b;
    }
  }
}

// Pieces of a workspace, as first and past-the-end addresses.
using Pieces = std::vector<std::pair<const std::byte*, const std::byte*>>;

template <class T>
void add(Pieces& pieces, const T* begin, std::size_t count) {
  pieces.emplace_back(reinterpret_cast<const std::byte*>(begin), reinterpret_cast<const std::byte*>(begin + count));
}

void expect_disjoint_inside(Pieces pieces, const std::byte* begin, const std::byte* end, const std::string& text) {
  std::sort(pieces.begin(), pieces.end());
  for (const auto& [first, last] : pieces) {
    ASSERT_GE(first, begin) << text;
    ASSERT_LE(last, end) << text;
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(first) % Arena::alignment, 0u) << text;
    begin = last;
  }
}

TEST(Blocking, EveryBufferLiesInsideTheWorkspaceAndNoneOverAnother) {
  for_all_blockings(
      [](const Blocking& b, const ProductShape&, const Int8Engine& engine, std::size_t, const std::string& text) {
        if (b.bytes > std::size_t{64} << 20) return;
        const Workspace workspace(b.bytes);
        Arena arena = workspace.arena();
        const PassBuffers p = carve_pass(arena, b, engine);
        const auto moduli = static_cast<std::size_t>(b.moduli);
        Pieces pieces;
        add(pieces, p.a.planes, moduli * p.a.stride);
        add(pieces, p.b.planes, moduli * p.b.stride);
        add(pieces, p.c.planes, moduli * p.c.stride);
        add(pieces, p.scratch, static_cast<std::size_t>(b.threads) * p.scratch_stride);
        expect_disjoint_inside(pieces, workspace.data(), workspace.data() + b.bytes, text);
        // and each holds what is put there: planes, a gathered strip of doubles, the engine's accumulators
        ASSERT_GE(static_cast<std::int64_t>(p.a.stride), panel_layout(b.m_block, b.k_block).bytes()) << text;
        ASSERT_GE(static_cast<std::int64_t>(p.b.stride), panel_layout(b.n_block, b.k_block).bytes()) << text;
        ASSERT_GE(static_cast<std::int64_t>(p.c.stride), b.m_block * b.n_block) << text;
        ASSERT_GE(p.scratch_stride, engine.scratch_bytes()) << text;
        ASSERT_GE(static_cast<std::int64_t>(p.scratch_stride), strip_size * b.k_block * 8) << text;
        for (const std::size_t stride : {p.a.stride, p.b.stride, p.c.stride, p.scratch_stride})
          ASSERT_EQ(stride % 64, 0u);
      });
}

TEST(Blocking, TheVectorsHaveTheirOwnPlaces) {
  constexpr int threads = 3;
  for (const ProductShape& shape : {ProductShape{1, 1, 1}, {33, 64, 5}, {1000, 77, 20}, {70, 10, 100000}}) {
    Arena count;
    carve_vectors(count, shape, threads);
    const Workspace workspace(count.used());
    Arena arena = workspace.arena();
    const VectorBuffers v = carve_vectors(arena, shape, threads);
    const auto m = static_cast<std::size_t>(round_up(shape.m, 32)), n = static_cast<std::size_t>(round_up(shape.n, 32));
    Pieces pieces;
    add(pieces, v.a.statistics, m);
    add(pieces, v.b.statistics, n);
    add(pieces, v.a.proofs, m);
    add(pieces, v.b.proofs, n);
    add(pieces, v.a.scales, m);
    add(pieces, v.b.scales, n);
    if (shape.k <= longest_spanned_k) {
      const auto rows = static_cast<std::size_t>(v.a.stride), columns = static_cast<std::size_t>(v.b.stride);
      ASSERT_GE(v.a.stride, round_up(shape.m, span_lanes));
      ASSERT_GE(v.b.stride, round_up(shape.n, span_lanes));
      const auto blocks = static_cast<std::size_t>(span_blocks(shape.k));
      add(pieces, v.a.deficits, blocks * rows);
      add(pieces, v.b.deficits, blocks * columns);
      add(pieces, v.a.norm_bits, rows);
      add(pieces, v.b.norm_bits, columns);
      add(pieces, v.a.costs, rows * threads);
      add(pieces, v.b.costs, columns);
    } else {
      ASSERT_EQ(v.a.deficits, nullptr);
    }
    expect_disjoint_inside(pieces, workspace.data(), workspace.data() + count.used(), described(shape));
  }
}

Options options_of(const Int8Engine& engine, Contract contract) {
  Options options{.contract = contract, .engine = std::string(engine.name()), .threads = 2};
  return options;
}

const Int8Engine& portable() { return find_int8_engine("portable"); }

// What gemm_workspace() calls the least is enough for any number of moduli that data may ask for.
TEST(ProductPlan, TheLeastWorkspaceServesEveryNumberOfModuli) {
  for (const ProductShape& shape : shapes) {
    Options options = options_of(portable(), Contract::fp64());
    const std::size_t least = workspace_bytes<double>(shape, options, true);
    EXPECT_LE(least, workspace_bytes<double>(shape, options, false));
    options.workspace_limit = least;
    const ProductPlan plan = plan_product<double>(shape, options);
    EXPECT_LE(plan.vector_bytes + plan.pass_bytes, least) << described(shape);
    EXPECT_LE(plan.ordinary.bytes, plan.pass_bytes);
    for (int moduli = 2; moduli <= max_moduli; ++moduli)
      EXPECT_LE(choose_blocking(shape, moduli, 2, portable(), plan.pass_bytes).bytes, plan.pass_bytes) << moduli;
    options.workspace_limit = least - 1;
    EXPECT_THROW(plan_product<double>(shape, options), Error) << described(shape);
  }
}

// With twice the memory of the matrices ordinary data are converted once.
TEST(ProductPlan, TakesOrdinaryDataWholeWhereMemoryAllows) {
  const ProductShape shape{8192, 8192, 8192};
  const int processors = static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));
  EXPECT_EQ(default_limit({1000, 1000, 1000}, sizeof(double), processors), default_workspace_limit);
  EXPECT_EQ(default_limit({1000, 1000, 1000}, sizeof(double), processors, 3 * default_workspace_limit),
            3 * default_workspace_limit);
  for (const std::int64_t n : {8192, 65536})
    for (int threads = 1; threads <= processors; ++threads) {
      const std::size_t limit = default_limit({n, n, n}, sizeof(double), threads),
                        share = machine_memory_bytes() / 4 / static_cast<std::size_t>(processors);
      EXPECT_GE(limit, default_workspace_limit);
      EXPECT_LE(limit, std::max(default_workspace_limit,
                                std::min(4 * default_workspace_limit, share * static_cast<std::size_t>(threads))));
    }
  if (machine_memory_bytes() < 13 * default_workspace_limit) GTEST_SKIP() << "a quarter of the memory does not hold it";
  {
    const DataLimit limit(2 * default_workspace_limit);
    EXPECT_EQ(default_limit(shape, sizeof(double), processors), default_workspace_limit) << "what the system refuses";
  }
  EXPECT_EQ(default_limit(shape, sizeof(double), processors), std::size_t{3} << 30);
  Options options = options_of(portable(), Contract::fp64());
  options.threads = processors;
  const ProductPlan plan = plan_product<double>(shape, options);
  EXPECT_EQ(plan.ordinary.m_block, shape.m);
  EXPECT_EQ(plan.ordinary.n_block, shape.n);
}

TEST(ProductPlan, StaysWithinItsLimit) {
  for (const ProductShape& shape : shapes)
    for (const std::size_t limit : {std::size_t{0}, std::size_t{200} << 20, std::size_t{2} << 30}) {
      Options options = options_of(portable(), Contract::fp64());
      options.workspace_limit = limit;
      const std::size_t least = workspace_bytes<double>(shape, options, true);
      if (limit != 0 && limit < least) continue;  // refused: see above
      const ProductPlan plan = plan_product<double>(shape, options);
      EXPECT_LE(plan.printable.workspace,
                limit != 0 ? limit : default_limit(shape, sizeof(double), usable_threads(options.threads), least))
          << described(shape);
      EXPECT_EQ(plan.printable.workspace, plan.vector_bytes + plan.pass_bytes);
      EXPECT_EQ(plan.printable.moduli, ordinary_moduli<double>(options.contract, shape.k));
    }
}

TEST(ProductPlan, ListsAPassForOrdinaryAndOneForWideEntries) {
  const ProductPlan plan = plan_product<double>({100, 100, 100}, options_of(portable(), Contract::fp64()));
  PassList list = plan_passes(plan, {});
  ASSERT_EQ(list.count, 1);
  EXPECT_TRUE(list.pass[0].ordinary && list.pass[0].every_entry && !list.native);
  list = plan_passes(plan,
                     {.any_ordinary = true, .any_wide = true, .wide_rows = 3, .wide_log2 = 200, .wide_exponent = 90});
  ASSERT_EQ(list.count, 2);
  EXPECT_FALSE(list.pass[1].ordinary || list.pass[0].every_entry || list.pass[1].every_entry || list.native);
  EXPECT_EQ(list.pass[1].limbs, 2);
  EXPECT_GE(list.pass[1].blocking.moduli, list.pass[0].blocking.moduli);
  list = plan_passes(
      plan, {.any_ordinary = false, .any_wide = true, .wide_log2 = 340, .wide_exponent = largest_exponent(max_limbs)});
  ASSERT_EQ(list.count, 1);
  EXPECT_TRUE(list.pass[0].every_entry && !list.pass[0].ordinary && !list.native);
  EXPECT_EQ(list.pass[0].limbs, max_limbs);
  for (const Scaling& beyond : {Scaling{.any_wide = true, .wide_log2 = 342},
                                Scaling{.any_wide = true, .wide_exponent = largest_exponent(max_limbs) + 1}}) {
    list = plan_passes(plan, beyond);
    EXPECT_TRUE(list.native && list.beyond_scheme);
  }
}

}  // namespace
}  // namespace vernier::test::blocking_test
