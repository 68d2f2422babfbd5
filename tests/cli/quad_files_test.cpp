// Matrices of dd in files: what is written is what NumPy writes, and reads back.
#include <cmath>
#include <cstring>

#include "decimal_digits.hpp"
#include "files.hpp"
#include "input_file.hpp"
#include "quad_matrix.hpp"

namespace vernier::cli::quad_files_test {
namespace {

using namespace vernier::cli::testing;

dd sum_of(double hi, double lo) { return {hi, lo}; }

QuadMatrix small() {
  return {2, 2, Order::column_major, {sum_of(1, 0x1p-60), dd(2), sum_of(1.0 / 3, 0x1.5555555555555p-56), dd(-4)}};
}

std::string written(const std::string& name, const QuadMatrix& x, QuadEntries entries) {
  TemporaryFolder folder;
  OutputFile file(folder / name);
  write_quad_matrix(file, *output_format(name), x, entries);
  file.commit();
  return contents(folder / name);
}

QuadMatrix read_back(const std::string& name, const std::string& bytes) {
  TemporaryFolder folder;
  return read_quad_matrix(folder.write(name, bytes), Vectors::columns);
}

TEST(QuadFiles, StructureOfTwoDoublesKeepsEveryBit) {
  const QuadMatrix x = read_back("x.npy", written("x.npy", small(), QuadEntries::dd));
  EXPECT_EQ(x.order, Order::column_major);
  EXPECT_EQ(x.entries, small().entries);
}

TEST(QuadFiles, NamesOfEntries) {
  EXPECT_EQ(parse_quad_entries("dd"), QuadEntries::dd);
  EXPECT_THROW(parse_quad_entries("float"), std::invalid_argument);
  EXPECT_THROW(parse_quad_entries(""), std::invalid_argument);
}

#if defined(__x86_64__)
TEST(QuadFiles, LongDoubleIsTheSumRoundedOnce) {
  const std::string bytes = written("x.npy", small(), parse_quad_entries("longdouble"));
  EXPECT_NE(bytes.find("{'descr': '<f16', 'fortran_order': True, 'shape': (2, 2), }"), std::string::npos);
  ASSERT_GE(bytes.size(), 64u);
  const std::string data = bytes.substr(bytes.size() - 64);
  const long double expected[] = {1 + 0x1p-60L, 2, 1.0L / 3, -4};
  for (std::size_t e = 0; e < 4; ++e) {
    EXPECT_EQ(std::memcmp(data.data() + 16 * e, &expected[e], 10), 0) << e;
    EXPECT_EQ(data.substr(16 * e + 10, 6), std::string(6, '\0')) << e;
  }
  const QuadMatrix x = read_back("x.npy", bytes);
  EXPECT_EQ(x.entries[0], small().entries[0]);
  EXPECT_EQ(x.entries[2], sum_of(1.0 / 3, static_cast<double>(1.0L / 3 - static_cast<long double>(1.0 / 3))));
}

TEST(QuadFiles, LongDoubleRoundsTies) {  // 1 + 2^-64 and 1 + 3 2^-64 lie between two numbers of 64 bits
  const QuadMatrix x{3, 1, Order::column_major, {sum_of(1, 0x1p-64), sum_of(1, 0x3p-64), sum_of(1, 0x1.8p-64)}};
  const QuadMatrix y = read_back("x.npy", written("x.npy", x, QuadEntries::long_double));
  EXPECT_EQ(y.entries, (std::vector<dd>{dd(1), sum_of(1, 0x1p-62), sum_of(1, 0x1p-63)}));
}

TEST(QuadFiles, InfinitiesAndNanStayThemselves) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const QuadMatrix x{3, 1, Order::column_major, {dd(inf), sum_of(-inf, nan), dd(nan)}, true};
  for (const QuadEntries entries : {QuadEntries::long_double, QuadEntries::quaddtype}) {
    const QuadMatrix y = read_back("x.npy", written("x.npy", x, entries));
    EXPECT_TRUE(y.vector);
    EXPECT_EQ(y.entries[0].hi, inf);
    EXPECT_EQ(y.entries[1].hi, -inf);
    EXPECT_TRUE(std::isnan(y.entries[2].hi));
  }
}
#endif

#if defined(__SIZEOF_FLOAT128__)
// numpy.load(..., allow_pickle=True) gives these numbers back: tried with NumPy 2.4.6 and numpy_quaddtype 1.0.0.
TEST(QuadFiles, QuaddtypeIsAPickleOfBinary128) {
  const std::string bytes = written("x.npy", small(), parse_quad_entries("quaddtype"));
  EXPECT_NE(bytes.find("{'descr': '|O', 'fortran_order': True, 'shape': (2, 2), }"), std::string::npos);
  const std::string zeros(7, '\0'), one = "\x8a\x08\x01" + zeros, two = "\x8a\x08\x02" + zeros;
  const std::string before = std::string("\x80\x04") + "\x8c\x16numpy._core.multiarray\x8c\x0c_reconstruct\x93" +
                             "\x8c\x05numpy\x8c\x07ndarray\x93\x8a\x08" + std::string(8, '\0') + "\x85" + "C\x01" +
                             "b\x87R(" + one + two + two + "\x86\x8c\x0fnumpy_quaddtype\x8c\x0dQuadPrecDType\x93" +
                             "\x8c\x05sleef\x85R\x88\x8e\x40" + zeros;
  const std::string pickle = bytes.substr(bytes.find('\n') + 1);
  ASSERT_EQ(pickle.size(), before.size() + 64 + 3);
  EXPECT_EQ(pickle.substr(0, before.size()), before);
  EXPECT_EQ(pickle.substr(pickle.size() - 3), "tb.");
  const binary128 expected = 1 + static_cast<binary128>(0x1p-60);
  EXPECT_EQ(std::memcmp(pickle.data() + before.size(), &expected, 16), 0);
  const QuadMatrix x = read_back("x.npy", bytes);
  EXPECT_EQ(x.order, Order::column_major);
  EXPECT_EQ(x.entries, small().entries);
}

TEST(QuadFiles, QuaddtypeTakesManyEntriesAndVectors) {
  QuadMatrix x{70000, 1, Order::column_major, {}, true};
  for (int e = 0; e < 70000; ++e) x.entries.push_back(sum_of(e + 1, 0x1p-60));
  const QuadMatrix y = read_back("x.npy", written("x.npy", x, QuadEntries::quaddtype));
  EXPECT_TRUE(y.vector);
  EXPECT_EQ(y.rows, 70000);
  EXPECT_EQ(y.entries, x.entries);
}
#endif

TEST(QuadFiles, MatrixMarketOf36DigitsKeepsEveryBit) {
  const std::string text = written("x.mtx", small(), QuadEntries::dd);
  EXPECT_NE(text.find("1.00000000000000000086736173798840355e+00\n"), std::string::npos) << text;
  EXPECT_EQ(read_back("x.mtx", text).entries, small().entries);
}

TEST(QuadFiles, DigitsOfADoubleAreThatDouble) {
  const std::string banner = "%%MatrixMarket matrix array real general\n4 1\n";
  const QuadMatrix x = read_back("x.mtx", banner + "0.1\n1.0000000000000002\n+0.30000000000000004e2\n-0\n");
  EXPECT_EQ(x.entries, (std::vector<dd>{dd(0.1), dd(1.0000000000000002), dd(0.30000000000000004e2), dd(-0.0)}));
}

TEST(QuadFiles, MoreDigitsAreReadToTheLast) {
  const std::string banner = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n";
  const QuadMatrix x = read_back("x.mtx", banner + "2 1 0.100000000000000000000000000000000000\n");
  const dd tenth(0.1, -0x1.999999999999ap-58);  // 1/10 - RN(1/10), rounded
  EXPECT_EQ(x.entries[1], tenth);
  EXPECT_EQ(x.entries[2], dd(-tenth.hi, -tenth.lo));
}

TEST(QuadFiles, CountsSignificantDigits) {
  EXPECT_EQ(significant_digits("-0012.50e30"), 4);
  EXPECT_EQ(significant_digits("0.00102"), 3);
  EXPECT_EQ(significant_digits("0"), 0);
  EXPECT_EQ(significant_digits("nan"), 0);
}

}  // namespace
}  // namespace vernier::cli::quad_files_test
