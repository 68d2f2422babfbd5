#include <cmath>
#include <limits>

#include "files.hpp"
#include "input_file.hpp"
#include "matrix_file.hpp"

namespace vernier::cli::matrix_market_test {
namespace {

using namespace vernier::cli::testing;

Matrix read(const std::string& text) {
  TemporaryFolder folder;
  return read_matrix_market(folder.write("x.mtx", text));
}

std::string refusal(const std::string& text) {
  TemporaryFolder folder;
  const std::string path = folder.write("x.mtx", text);
  try {
    read_matrix_market(path);
  } catch (const FileError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(path + ": ")) << message;
    return message.substr(path.size() + 2);
  }
  return "accepted";
}

std::vector<double> by_columns(const Matrix& x) { return std::get<std::vector<double>>(x.entries); }

TEST(MatrixMarket, ReadsArrays) {
  const Matrix x = read("%%MatrixMarket matrix array real general\n% a comment\n\n2 3\n1\n4\n2.0\n+5e0\n3\n60e-1\n");
  EXPECT_EQ(x.rows, 2);
  EXPECT_EQ(x.columns, 3);
  EXPECT_EQ(x.order, Order::column_major);
  EXPECT_EQ(by_columns(x), (std::vector<double>{1, 4, 2, 5, 3, 6}));
}

TEST(MatrixMarket, ReadsCoordinatesInAnyOrder) {
  const Matrix x = read("%%MatrixMarket matrix coordinate real general\n3 2 3\n3 2 0.5\n1 1 -1\n2\t1  7\n");
  EXPECT_EQ(by_columns(x), (std::vector<double>{-1, 7, 0, 0, 0, 0.5}));
}

TEST(MatrixMarket, ReadsIntegersPatternsAndCapitals) {
  EXPECT_EQ(by_columns(read("%%matrixmarket MATRIX Array Integer GENERAL\r\n1 2\r\n-3\r\n9007199254740992\r\n")),
            (std::vector<double>{-3, 0x1p53}));
  EXPECT_EQ(by_columns(read("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 2")),
            (std::vector<double>{0, 0, 1, 1}));
  EXPECT_EQ(
      by_columns(read("%%MatrixMarket matrix array unsigned-integer general\n%\n1 2\n200\n9223372036854775808\n")),
      (std::vector<double>{200, 0x1p63}));  // as scipy.io.mmwrite writes unsigned arrays
  EXPECT_EQ(by_columns(read("%%MatrixMarket matrix coordinate unsigned-integer symmetric\n2 2 1\n2 1 7\n")),
            (std::vector<double>{0, 7, 7, 0}));
}

TEST(MatrixMarket, MirrorsSymmetricMatrices) {
  const std::vector<double> full = {1, 2, 3, 2, 4, 5, 3, 5, 6};
  EXPECT_EQ(by_columns(read("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n")), full);
  EXPECT_EQ(by_columns(read(
                "%%MatrixMarket matrix coordinate real symmetric\n3 3 6\n1 1 1\n2 1 2\n3 1 3\n2 2 4\n3 2 5\n3 3 6\n")),
            full);
  EXPECT_EQ(by_columns(read("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n")),
            (std::vector<double>{0, 1, 1, 0}));
}

TEST(MatrixMarket, MirrorsSkewSymmetricMatricesWithTheirSign) {
  const std::vector<double> full = {0, 2, 3, -2, 0, 5, -3, -5, 0};
  EXPECT_EQ(by_columns(read("%%MatrixMarket matrix array real skew-symmetric\n3 3\n2\n3\n5\n")), full);
  EXPECT_EQ(by_columns(read("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n2 1 2\n3 1 3\n3 2 5\n")),
            full);
}

TEST(MatrixMarket, ReadsExtremesAndSpecialValues) {
  const auto x = by_columns(
      read("%%MatrixMarket matrix array real general\n5 1\n4.9e-324\n1.7976931348623157e308\ninf\n-inf\nnan\n"));
  EXPECT_EQ(x[0], std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(x[1], std::numeric_limits<double>::max());
  EXPECT_EQ(x[2], std::numeric_limits<double>::infinity());
  EXPECT_EQ(x[3], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(x[4]));
}

TEST(MatrixMarket, ReadsEmptyMatrices) {
  EXPECT_EQ(read("%%MatrixMarket matrix array real general\n0 4\n").columns, 4);
  EXPECT_EQ(read("%%MatrixMarket matrix array real general\n0 1000000000000000000\n").rows, 0);
  EXPECT_EQ(by_columns(read("%%MatrixMarket matrix coordinate real general\n1 2 0\n")), (std::vector<double>{0, 0}));
}

struct Broken {
  const char* text;
  const char* message;  // what it must say, in part
};

TEST(MatrixMarket, RefusesBrokenFiles) {
  const Broken broken[] = {
      {"", "is empty"},
      {"1 2\n", "not a Matrix Market file"},
      {"%%MatrixMarket vector array real general\n1 1\n1\n",
       "line 1: the object 'vector' is not known: matrix expected"},
      {"%%MatrixMarket matrix dense real general\n1 1\n1\n",
       "line 1: the format 'dense' is not known: array or coordinate expected"},
      {"%%MatrixMarket matrix array complex general\n1 1\n1 0\n", "takes real matrices"},
      {"%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1 0\n", "takes real matrices"},
      {"%%MatrixMarket matrix array real hermitian\n1 1\n1\n",
       "line 1: 'hermitian' is for complex matrices; this one is real"},
      {"%%MatrixMarket matrix\n1 1\n1\n", "line 1: the format is missing: array or coordinate expected"},
      {"%%MatrixMarket matrix array real skew-symmetric\n2 3\n1\n", "a skew-symmetric matrix is square, not 2 x 3"},
      {"%%MatrixMarket matrix array pattern general\n1 1\n", "line 1: an array has values"},
      {"%%MatrixMarket matrix array quaternion general\n1 1\n",
       "the field 'quaternion' is not known: real, double or integer expected"},
      {"%%MatrixMarket matrix array real triangular\n1 1\n1\n",
       "'triangular' is not known: general, symmetric or skew-symmetric expected"},
      {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n2 2 1\n2 1\n", "a pattern has ones alone"},
      {"%%MatrixMarket matrix array real\n1 1\n1\n", "line 1: the symmetry is missing: general, symmetric"},
      {"%%MatrixMarket matrix array real general more\n1 1\n1\n", "'more' is more than"},
      {"%%MatrixMarket matrix array real general\n", "before the line of sizes"},
      {"%%MatrixMarket matrix array real general\n2\n", "line 2: the number of columns is missing"},
      {"%%MatrixMarket matrix array real general\n1 1 1\n1\n", "line 2: '1' is more than"},
      {"%%MatrixMarket matrix coordinate real general\n1 1\n1 1 1\n", "the number of entries is missing"},
      {"%%MatrixMarket matrix array real general\n-1 2\n", "negative"},
      {"%%MatrixMarket matrix array real general\nx 2\n", "the number of rows expected, found 'x'"},
      {"%%MatrixMarket matrix array real general\n99999999999999999999 2\n", "out of range"},
      {"%%MatrixMarket matrix array real general\n4294967296 4294967296\n", "more than 2^63 bytes"},
      {"%%MatrixMarket matrix coordinate real general\n100000000 100000000 1\n1 1 1\n", "this machine has"},
      {"%%MatrixMarket matrix coordinate real general\n12000 12000 1\n1 1 1\n", "for a file of 66 bytes"},
      {"%%MatrixMarket matrix array real general\n10000 10000\n1\n", "do not fit into its"},
      {"%%MatrixMarket matrix array real symmetric\n2 3\n1\n", "a symmetric matrix is square, not 2 x 3"},
      {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "truncated: the file ends before entry (2, 2)"},
      {"%%MatrixMarket matrix array real general\n1 1\n1\n2\n", "line 4: the file goes on"},
      {"%%MatrixMarket matrix array real general\n1 1\n1 2\n", "line 3: '2' is more than"},
      {"%%MatrixMarket matrix array real general\n1 1\n1.0D+3\n",
       "line 3: a number expected, found '1.0D+3' (exponents are written with e or E)"},
      {"%%MatrixMarket matrix array real general\n1 1\n1,5\n", "found '1,5' (the decimal mark is a point)"},
      {"%%MatrixMarket matrix array real general\n1 1\n+-1\n", "found '+-1'"},
      {"%%MatrixMarket matrix array real general\n1 1\n1e400\n", "'1e400' is out of range"},
      {"%%MatrixMarket matrix array integer general\n1 1\n1.5\n", "an integer expected, found '1.5'"},
      {"%%MatrixMarket matrix array integer general\n1 1\n9007199254740993\n",
       "no double holds the integer 9007199254740993"},
      {"%%MatrixMarket matrix array integer general\n1 1\n9223372036854775807\n", "no double holds"},
      {"%%MatrixMarket matrix array unsigned-integer general\n1 1\n18446744073709551615\n", "no double holds"},
      {"%%MatrixMarket matrix array unsigned-integer general\n1 1\n-1\n", "an integer expected, found '-1'"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", "ends after 1 of 2 entries"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n", "entry (3, 1) lies outside the 2 x 2 matrix"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n", "entry (0, 1) lies outside"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n", "a number is missing"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1 0\n", "'0' is more than"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 2\n", "line 4: entry (1, 1) was given before"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 1\n1 2 1\n", "was given before"},
      {"%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1\n1 1 2\n", "2 entries in a 1 x 1 matrix"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "zeros on its diagonal"},
  };
  for (const Broken& b : broken) {
    const std::string message = refusal(b.text);
    EXPECT_NE(message.find(b.message), std::string::npos) << b.text << "\n  said: " << message;
  }
}

TEST(MatrixMarket, WritesColumnByColumn) {
  TemporaryFolder folder;
  OutputFile file(folder / "x.mtx");
  write_matrix_market(file, Matrix{2, 2, Order::row_major, std::vector<float>{1, 0.1f, 3, -4}});
  file.commit();
  EXPECT_EQ(contents(folder / "x.mtx"), "%%MatrixMarket matrix array real general\n2 2\n1\n3\n0.1\n-4\n");
}

TEST(MatrixMarket, RoundTripKeepsEveryBit) {
  TemporaryFolder folder;
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> x = {0.1, 1.0 / 3, -0.0, inf, -inf, 4.9e-324, 1.7976931348623157e308, 1e23, 5e-300};
  OutputFile file(folder / "x.mtx");
  write_matrix_market(file, Matrix{3, 3, Order::column_major, x});
  file.commit();
  EXPECT_EQ(raw(by_columns(read_matrix(folder / "x.mtx"))), raw(x));
}

TEST(MatrixFile, FormatFollowsTheNameOfTheOutput) {
  EXPECT_EQ(output_format("a.b/x.NPY"), FileFormat::npy);
  EXPECT_EQ(output_format("-"), FileFormat::npy);
  EXPECT_EQ(output_format("x.mtx"), FileFormat::matrix_market);
  EXPECT_EQ(output_format("x.npy/y"), std::nullopt);
  EXPECT_EQ(output_format("npy"), std::nullopt);
}

TEST(MatrixFile, InputWithoutAKnownNameIsKnownByItsFirstBytes) {
  TemporaryFolder folder;
  EXPECT_EQ(read_matrix(folder.write("a", small_npy())).columns, 3);
  EXPECT_EQ(read_matrix(folder.write("b.txt", "%%MatrixMarket matrix array real general\n1 1\n2\n")).at(0, 0), 2);
  EXPECT_THROW(read_matrix(folder.write("c", "1 2 3")), FileError);
  EXPECT_THROW(read_matrix(folder.write("d.npy", "%%MatrixMarket matrix array real general\n1 1\n2\n")), FileError);
}

TEST(OutputFile, IsWholeOrAbsent) {
  TemporaryFolder folder;
  {
    OutputFile file(folder / "x");
    file.write("half", 4);
    EXPECT_EQ(folder.names().size(), 1u);  // the temporary file
    EXPECT_FALSE(std::filesystem::exists(folder / "x"));
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(OutputFile, KeepsTheOldFileUntilCommitted) {
  TemporaryFolder folder;
  folder.write("x", "old");
  std::filesystem::permissions(folder / "x", std::filesystem::perms{0640});
  std::filesystem::create_symlink("x", folder / "link");
  {
    OutputFile file(folder / "link");
    file.write("new", 3);
    EXPECT_EQ(contents(folder / "x"), "old");
    file.commit();
  }
  EXPECT_EQ(contents(folder / "x"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(std::filesystem::status(folder / "x").permissions(), std::filesystem::perms{0640});
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"link", "x"}));
}

TEST(OutputFile, FollowsALinkToAFileThatIsNotThereYet) {
  TemporaryFolder folder;
  std::filesystem::create_symlink("x", folder / "first");
  std::filesystem::create_symlink("first", folder / "link");
  {
    OutputFile file(folder / "link");
    file.write("new", 3);
    file.commit();
  }
  EXPECT_EQ(contents(folder / "x"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  std::filesystem::create_symlink("circle", folder / "circle");
  EXPECT_THROW(OutputFile{folder / "circle"}, FileError);
}

TEST(OutputFile, RefusesWhatCannotBeWritten) {
  TemporaryFolder folder;
  EXPECT_THROW(OutputFile(folder / "absent/x"), FileError);
  EXPECT_THROW(OutputFile(folder / ""), FileError);
  OutputFile full("/dev/full");
  EXPECT_THROW(full.write("x", 1), FileError);
}

}  // namespace
}  // namespace vernier::cli::matrix_market_test
