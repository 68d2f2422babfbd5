// The rounding that a GPU runs under contract exact: what it decides is right for every number in the interval, and it
// decides what can be decided.
#include "residue/exact/round.hpp"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include "support/compare.hpp"
#include "support/exact.hpp"
#include "support/random.hpp"

namespace vernier::test::round_test {
namespace {

template <class Sums, int Limbs>
Sums all_sums_of(const mpz_class& integer, const CrtTables<Limbs>& tables, const ResidueSystem& system) {
  Sums sums;
  for (int g = 0; g < tables.pairs; ++g) {
    std::uint32_t residues = 0;
    for (int q = 2 * g; q < std::min(2 * g + 2, system.count); ++q) {
      const int p = moduli[static_cast<std::size_t>(q)];
      const auto r = static_cast<int>(mpz_fdiv_ui(integer.get_mpz_t(), static_cast<unsigned long>(p)));
      const int byte = multiply_mod(symmetric_residue(r, p), system.row_factor[static_cast<std::size_t>(q)], p);
      residues |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(byte)) << (8 * (q - 2 * g));
    }
    sums.add(joined_residues(tables.pair[static_cast<std::size_t>(g)], residues, 0), tables, g);
  }
  sums.reduce(tables);
  return sums;
}

template <int Limbs>
CrtSums<Limbs> sums_of(const mpz_class& integer, const CrtTables<Limbs>& tables, const ResidueSystem& system) {
  return all_sums_of<CrtSums<Limbs>>(integer, tables, system);
}
template <int Limbs>
LeadingSums<Limbs> leading_sums_of(const mpz_class& integer, const CrtTables<Limbs>& tables,
                                   const ResidueSystem& system) {
  return all_sums_of<LeadingSums<Limbs>>(integer, tables, system);
}

// Integers below P / 2 (1 - 2^-20): of any size, and near numbers where the rounding turns: midpoints, or numbers of
// the type in directions other than the nearest.
mpz_class hard_integer(Random& random, double log2_product, int precision, bool midpoints = true) {
  const auto most = static_cast<int>(log2_product) - 2;
  const auto bits = static_cast<int>(random.integer(random.integer(0, 1) == 0 ? 0 : most * 2 / 3, most));
  mpz_class c = 0;
  for (int b = 0; b < bits; b += 32) c = (c << 32) + static_cast<unsigned long>(random.integer(0, (1ll << 32) - 1));
  c >>= static_cast<unsigned long>((32 - bits % 32) % 32);
  if (bits > precision + 2 && random.integer(0, 1) == 0) {
    const int below = bits - precision - 1;  // bits from the midpoint's on
    c >>= static_cast<unsigned long>(below);
    c = (midpoints ? mpz_class(c | 1) : mpz_class(c >> 1 << 1)) << static_cast<unsigned long>(below);
    c += random.integer(-2, 2);
  }
  return random.sign() < 0 ? mpz_class(-c) : c;
}

struct Tally {
  int all = 0, by_doubles = 0, open = 0;
};
struct Tallies {
  Tally nearest, directed;
};

template <class T>
T end_of_interval(const mpz_class& integer, double error, int scale, T alpha, T beta, T c, Rounding rounding) {
  // in units of 2^(2 exact_unit - |scale|)
  mpz_class value = ((integer << static_cast<unsigned long>(-exact_unit)) + exact_value(error)) *
                    exact_value(static_cast<double>(alpha));
  mpz_class update = exact_value(static_cast<double>(beta)) * exact_value(static_cast<double>(c));
  const int reach = std::abs(scale);
  value <<= static_cast<unsigned long>(reach - scale);
  if (beta != 0) value += update << static_cast<unsigned long>(reach);
  return rounded<T>(value, 2 * exact_unit - reach, rounding);
}

template <class T, int Limbs>
void check(int count, Tallies& tallies) {
  const ResidueSystem& system = residue_system(count);
  const CrtTables<Limbs> tables(system);
  Random random(static_cast<std::uint64_t>(count));
  constexpr int precision = std::numeric_limits<T>::digits;
  for (int trial = 0; trial < 300; ++trial) {
    const auto rounding = static_cast<Rounding>(trial / 2 % 4);
    const mpz_class integer = hard_integer(random, system.log2_product, precision, rounding == Rounding::nearest);
    const CrtSums<Limbs> sums = sums_of(integer, tables, system);
    const int size = static_cast<int>(mpz_sizeinbase(integer.get_mpz_t(), 2));
    const double error =
        trial % 3 == 0 ? 0 : std::ldexp(random.uniform(), size - precision - static_cast<int>(random.integer(0, 30)));
    const int extremes[] = {0, size, -40, size + 1060, size - 1023, size + 140, size - 127};
    const int scale = extremes[random.integer(0, 6)];
    const T alpha = trial % 4 == 0 ? static_cast<T>(random.exp_rand(-3, 3)) : trial % 4 == 1 ? T{-0.5} : T{1};
    const T beta = trial % 5 == 0 ? static_cast<T>(random.exp_rand(-3, 3)) : trial % 5 == 1 ? T{-1} : T{0};
    const T product = end_of_interval<T>(integer, 0, scale, alpha, 0, 0, Rounding::nearest);
    const T c = trial % 2 == 0 && is_finite(product) ? product : static_cast<T>(random.exp_rand(-20, 20));
    const T low = end_of_interval(integer, -error, scale, alpha, beta, c, rounding),
            high = end_of_interval(integer, error, scale, alpha, beta, c, rounding);
    const UpdateForm<T> form(alpha, beta, rounding);
    const auto what = [&] {
      return joined(count, " moduli, trial ", trial, ", integer ", integer.get_str(), ", error ", error, ", scale ",
                    scale, ", alpha ", alpha, ", beta ", beta, ", c ", c, ", rounding ", static_cast<int>(rounding));
    };
    Tally& tally = rounding == Rounding::nearest ? tallies.nearest : tallies.directed;
    ++tally.all;
    T result{};
    if (decided_by_doubles(sums, error, scale, form, &c, result) == Verdict::decided) {
      ++tally.by_doubles;
      ASSERT_EQ(bits_of(result), bits_of(low)) << what();
      ASSERT_EQ(bits_of(result), bits_of(high)) << what();
    }
    const LeadingSums<Limbs> leading = leading_sums_of(integer, tables, system);
    if (decided_by_doubles(leading, error, scale, form, &c, result) == Verdict::decided) {
      ASSERT_EQ(bits_of(result), bits_of(low)) << what();
      ASSERT_EQ(bits_of(result), bits_of(high)) << what();
    }
    const std::optional<T> other = decided_by_integers(sums, error, scale, form, &c);
    if (!other) {
      ++tally.open;
      continue;
    }
    ASSERT_EQ(bits_of(*other), bits_of(low)) << what();
    ASSERT_EQ(bits_of(*other), bits_of(high)) << what();
  }
}

template <class T>
Tallies check_all() {
  Tallies tally;
  for (int count = 2; count <= max_moduli; ++count) switch (exact_limbs(count)) {
      case 3:
        check<T, 3>(count, tally);
        break;
      case 4:
        check<T, 4>(count, tally);
        break;
      case 5:
        check<T, 5>(count, tally);
        break;
      case 6:
        check<T, 6>(count, tally);
        break;
      case 9:
        check<T, 9>(count, tally);
        break;
      default:
        check<T, 11>(count, tally);
    }
  return tally;
}

TEST(DeviceRound, DecidesNothingThatTheIntervalLeavesOpen) {
  for (const Tallies& t : {check_all<double>(), check_all<float>()}) {
    EXPECT_GT(t.nearest.by_doubles, t.nearest.all / 6);
    EXPECT_LT(t.nearest.open, t.nearest.all * 2 / 3);
    // Most of these lie beside a number of the type, or are integers beyond the slack: the integers decide them.
    EXPECT_GT(t.directed.by_doubles, t.directed.all / 20);
    EXPECT_LT(t.directed.open, t.directed.all * 2 / 3);
  }
}

// Between 2^128 and 2^129, all bits below as good as random.
mpz_class ordinary_integer(Random& random) {
  mpz_class integer = 1;
  for (int b = 0; b < 128; b += 32)
    integer = (integer << 32) + static_cast<unsigned long>(random.integer(0, (1ll << 32) - 1));
  return integer;
}

TEST(DeviceRound, DecidesOrdinaryEntriesByDoubles) {
  const ResidueSystem& system = residue_system(19);
  const CrtTables<4> tables(system);
  Random random(5);
  int decided = 0;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    const mpz_class integer = ordinary_integer(random);
    const UpdateForm<double> form(trial % 2 == 0 ? 1.0 : 0.3, trial % 4 == 3 ? -0.7 : 0.0);
    const double c = random.normal();
    double result = 0;
    const Verdict verdict = decided_by_doubles(leading_sums_of(integer, tables, system), 0x1p66, 128, form, &c, result);
    decided += verdict == Verdict::decided ? 1 : 0;
    EXPECT_NE(verdict, Verdict::unclear);
  }
  EXPECT_GE(decided, trials * 99 / 100);  // 2^-9 of them are closer to a midpoint than the error
}

TEST(DeviceRound, ErrorsAreNoLessThanThoseOfACpu) {
  Random random(6);
  for (int trial = 0; trial < 2000; ++trial) {
    const auto some = [&] {
      const double largest = std::ldexp(1 + random.uniform(), static_cast<int>(random.integer(0, 180)));
      return VectorError{trial % 3 == 0 ? 0 : std::floor(std::abs(random.exp_rand(0, 25))) / 2,
                         largest * std::abs(random.exp_rand(-1, 26)), largest};
    };
    const VectorError row = some(), column = some();
    const double expected = entry_error(row, column), got = entry_error(round_error(row, 0), round_error(column, 0));
    EXPECT_GE(got, expected);
    EXPECT_LE(got, expected * (1 + 0x1p-18));
  }
  const VectorError exact{0, 10, 3};
  EXPECT_EQ(entry_error(round_error(exact, 0), round_error(exact, 0)), 0);
}

TEST(DeviceRound, DecidesOrdinaryEntriesByDoublesInEveryDirection) {
  const ResidueSystem& system = residue_system(19);
  const CrtTables<4> tables(system);
  Random random(7);
  int decided = 0;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    const mpz_class integer = ordinary_integer(random);
    const auto rounding = static_cast<Rounding>(1 + trial % 3);
    const UpdateForm<double> form(trial % 2 == 0 ? 1.0 : -2.0, 0.0, rounding);
    double result = 0;
    if (decided_by_doubles(leading_sums_of(integer, tables, system), 0x1p66, 128, form, &result, result) !=
        Verdict::decided)
      continue;
    ++decided;
    const mpz_class value = trial % 2 == 0 ? integer : mpz_class(-2 * integer);
    ASSERT_EQ(bits_of(result), bits_of(rounded<double>(value, -128, rounding)));
  }
  EXPECT_GE(decided, trials * 99 / 100);
}

TEST(DeviceRound, LeavesNothingOpenWhereTheIntegerIsTheProduct) {
  const ResidueSystem& system = residue_system(11);
  const CrtTables<3> tables(system);
  Random random(3);
  const UpdateForm<double> form(-2, 0);
  for (int trial = 0; trial < 2000; ++trial) {
    const mpz_class integer = hard_integer(random, system.log2_product, 53);
    const std::optional<double> result =
        decided_by_integers<double>(sums_of(integer, tables, system), 0, 30, form, nullptr);
    ASSERT_TRUE(result);
    EXPECT_EQ(bits_of(*result), bits_of(rounded<double>(-integer, -29)));
  }
}

// Vectors that scaling leaves with some elements that are no integers: with what rounding lost of those the interval
// holds the sum of all products, and is as narrow as its 43 bits say.
template <int Limbs>
void check_refined(int count, int exponent) {
  const ResidueSystem& system = residue_system(count);
  const CrtTables<Limbs> tables(system);
  Random random(static_cast<std::uint64_t>(count));
  int decided = 0;
  constexpr int trials = 200, k = 40;
  for (int trial = 0; trial < trials; ++trial) {
    mpz_class integer = 0, sum = 0;  // sum: in units of 2^(2 exact_unit)
    LostSum lost;
    for (int l = 0; l < k; ++l) {
      const double x = std::ldexp(random.normal(), exponent - static_cast<int>(random.integer(0, 30))),
                   y = std::ldexp(random.normal(), exponent - static_cast<int>(random.integer(0, 30)));
      integer += exact_value(rint(x)) * exact_value(rint(y));
      sum += exact_value(x) * exact_value(y);
      if (x != rint(x)) lost.add(lost_by_row(x, y));
      if (y != rint(y)) lost.add(lost_by_column(x, y));
    }
    integer >>= static_cast<unsigned long>(-2 * exact_unit);
    CrtSums<Limbs> sums = sums_of(integer, tables, system);
    const double error = add_lost(sums, lost);
    EXPECT_LE(error, std::ldexp(k, exponent - 40) + 2);
    double result = 0;
    const UpdateForm<double> form(1, 0);
    const Verdict verdict = decided_by_doubles(sums, error, 2 * exponent, form, &result, result);
    if (verdict == Verdict::open) continue;
    if (verdict == Verdict::unclear) {
      const std::optional<double> by_integers = decided_by_integers(sums, error, 2 * exponent, form, &result);
      if (!by_integers) continue;
      result = *by_integers;
    }
    ++decided;
    EXPECT_EQ(bits_of(result), bits_of(rounded<double>(sum, 2 * exact_unit - 2 * exponent))) << trial;
  }
  EXPECT_GE(decided, trials - 2);
}

TEST(DeviceRound, LooksAtWhatRoundingLost) {
  check_refined<3>(14, 48);
  check_refined<4>(17, 59);
  check_refined<4>(19, 67);
  check_refined<5>(20, 70);
  check_refined<6>(23, 80);
  check_refined<9>(30, 102);
  check_refined<11>(40, 135);
}

TEST(DeviceRound, RoundsSumsOfAllProducts) {
  Random random(4);
  for (int trial = 0; trial < 300; ++trial) {
    const int reach = trial % 2 == 0 ? 1020 : 10;
    VectorStatistics row, column;
    row.sum = column.sum = row.squares = column.squares = 1;
    row.exponent = column.exponent = reach, row.lowest = column.lowest = -reach;
    const DigitRange range = product_digits<double>(row, column);
    ASSERT_LE(range.digits, 144);
    std::vector<std::int64_t> words(static_cast<std::size_t>(range.digits)), result(result_digits);
    const auto word = [&](int d) -> std::int64_t& { return words[static_cast<std::size_t>(d)]; };
    const auto out = [&](int d) -> std::int64_t& { return result[static_cast<std::size_t>(d)]; };
    mpz_class exact = 0;
    for (int l = 0; l < 20; ++l) {
      const double x = random.exp_rand(-reach, reach), y = random.exp_rand(-reach, reach);
      const ElementParts p = element_parts(x), q = element_parts(y);
      add_to_digits(p.negative != q.negative, static_cast<Uint128>(p.significand) * q.significand,
                    p.exponent + q.exponent - range.lowest, 0, range.digits, word);
      exact += exact_value(x) * exact_value(y);
    }
    const double alpha = trial % 3 == 0 ? random.exp_rand(-1000, 1000) : trial % 3 == 1 ? -4.0 : 1.0;
    const double beta = trial % 4 == 0 ? random.exp_rand(-1000, 1000) : 0.0, c = random.exp_rand(-1000, 1000);
    mpz_class expected = exact * exact_value(alpha);
    if (beta != 0) expected += exact_value(beta) * exact_value(c) << static_cast<unsigned long>(-exact_unit);
    EXPECT_EQ(bits_of(rounded_digits(range, word, alpha, beta, &c, out)),
              bits_of(rounded<double>(expected, 3 * exact_unit)))
        << trial;
  }
}

}  // namespace
}  // namespace vernier::test::round_test
