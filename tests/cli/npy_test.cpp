#include <sys/stat.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "files.hpp"
#include "input_file.hpp"
#include "matrix_file.hpp"
#include "npy_header.hpp"
#include "quad_matrix.hpp"

namespace vernier::cli::npy_test {
namespace {

using namespace vernier::cli::testing;

Matrix read(const std::string& bytes) {
  TemporaryFolder folder;
  return read_npy(folder.write("x.npy", bytes));
}

// The message without the path.
std::string refusal(const std::string& bytes) {
  TemporaryFolder folder;
  const std::string path = folder.write("x.npy", bytes);
  try {
    read_npy(path);
  } catch (const FileError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(path + ": ")) << message;
    return message.substr(path.size() + 2);
  }
  return "accepted";
}

void expect_counts_up_by_rows(const Matrix& x) {
  ASSERT_EQ(x.rows, 2);
  ASSERT_EQ(x.columns, 3);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) EXPECT_EQ(x.at(i, j), 1 + j + 3 * i) << i << " " << j;
  }
}

TEST(Npy, ReadsDoublesByRows) {
  const Matrix x = read(small_npy());
  EXPECT_TRUE(x.is_double());
  EXPECT_EQ(x.order, Order::row_major);
  EXPECT_EQ(x.leading_dimension(), 3);
  expect_counts_up_by_rows(x);
}

TEST(Npy, ReadsFortranOrder) {
  const Matrix x = read(npy(dictionary("<f8", "(2, 3)", true), raw<double>({1, 4, 2, 5, 3, 6})));
  EXPECT_EQ(x.order, Order::column_major);
  EXPECT_EQ(x.leading_dimension(), 2);
  expect_counts_up_by_rows(x);
}

TEST(Npy, ReadsVersions2And3) {
  for (int version : {2, 3}) {
    expect_counts_up_by_rows(read(npy(dictionary("<f8", "(2, 3)"), raw<double>({1, 2, 3, 4, 5, 6}), version)));
  }
}

TEST(Npy, KeepsFloat) {
  for (bool big : {false, true}) {
    const Matrix x = read(npy(dictionary(big ? ">f4" : "<f4", "(2, 3)"), raw<float>({1, 2, 3, 4, 5, 6}, big)));
    EXPECT_FALSE(x.is_double());
    expect_counts_up_by_rows(x);
  }
}

TEST(Npy, ReadsBigEndianDoubles) {
  expect_counts_up_by_rows(read(npy(dictionary(">f8", "(2, 3)"), raw<double>({1, 2, 3, 4, 5, 6}, true))));
}

template <class T>
void reads_integers(const std::string& name) {
  for (bool big : {false, true}) {
    const std::string descr = (sizeof(T) == 1 ? "|" : big ? ">" : "<") + name;
    const T least = std::numeric_limits<T>::min(), some = 77;
    const Matrix x = read(npy(dictionary(descr, "(1, 2)"), raw<T>({least, some}, big)));
    EXPECT_TRUE(x.is_double()) << descr;
    EXPECT_EQ(x.at(0, 0), static_cast<double>(least)) << descr;
    EXPECT_EQ(x.at(0, 1), 77) << descr;
  }
}

TEST(Npy, ReadsIntegersOfEverySizeAsDoubles) {
  reads_integers<std::int8_t>("i1");
  reads_integers<std::int16_t>("i2");
  reads_integers<std::int32_t>("i4");
  reads_integers<std::int64_t>("i8");
  reads_integers<std::uint8_t>("u1");
  reads_integers<std::uint16_t>("u2");
  reads_integers<std::uint32_t>("u4");
  reads_integers<std::uint64_t>("u8");
}

TEST(Npy, RefusesIntegersThatNoDoubleHolds) {
  const std::string i8 = dictionary("<i8", "(1, 2)"), u8 = dictionary("<u8", "(1, 2)");
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(read(npy(i8, raw<std::int64_t>({odd - 1, odd + 1}))).at(0, 1), 0x1p53 + 2);
  EXPECT_EQ(refusal(npy(i8, raw<std::int64_t>({0, odd}))),
            "entry 1 is the integer 9007199254740993, which no double holds");
  EXPECT_EQ(refusal(npy(i8, raw<std::int64_t>({-odd, 0}))),
            "entry 0 is the integer -9007199254740993, which no double holds");
  EXPECT_NE(refusal(npy(i8, raw<std::int64_t>({0, INT64_MAX}))), "accepted");
  EXPECT_NE(refusal(npy(u8, raw<std::uint64_t>({0, UINT64_MAX}))), "accepted");
  EXPECT_EQ(read(npy(u8, raw<std::uint64_t>({std::uint64_t{1} << 63, 0}))).at(0, 0), 0x1p63);
}

TEST(Npy, ReadsEmptyMatrices) {
  const Matrix x = read(npy(dictionary("<f8", "(0, 5)"), ""));
  EXPECT_EQ(x.rows, 0);
  EXPECT_EQ(x.columns, 5);
  EXPECT_EQ(read(npy(dictionary("<f8", "(5, 0)", true), "")).leading_dimension(), 5);
}

TEST(Npy, ReadsMoreThanOneChunk) {
  std::vector<float> values(300'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Matrix x = read(npy(dictionary("<f4", "(1000, 300)"), raw(values)));
  EXPECT_EQ(x.at(999, 299), 299'999);
  EXPECT_EQ(std::get<std::vector<float>>(x.entries), values);
}

TEST(Npy, ReadsAPipe) {
  TemporaryFolder folder;
  const std::string path = folder / "pipe.npy";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << small_npy(); });
  const Matrix x = read_npy(path);
  writer.join();
  expect_counts_up_by_rows(x);
}

TEST(Npy, CountsWhatIsNotFinite) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const Matrix x = read(npy(dictionary("<f8", "(2, 2)"), raw<double>({nan, -inf, 1, -nan})));
  EXPECT_EQ(count_nonfinite(x).nans, 2);
  EXPECT_EQ(count_nonfinite(x).infinities, 1);
}

TEST(Npy, RefusesEveryTruncation) {
  const std::string whole = small_npy();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const std::string message = refusal(whole.substr(0, bytes));
    EXPECT_TRUE(message == "is empty" || message.starts_with("truncated") || message.starts_with("not a NumPy"))
        << bytes << message;
  }
}

TEST(Npy, SaysWhatIsMissingOrTooMuch) {
  EXPECT_EQ(refusal(small_npy() + "x"),
            "has bytes after its data: shape (2, 3) of <f8 needs 48 bytes of data, the file holds 49");
  EXPECT_EQ(refusal(small_npy().substr(0, small_npy().size() - 8)),
            "truncated: shape (2, 3) of <f8 needs 48 bytes of data, the file holds 40");
}

// As numpy.save writes an array of numpy_quaddtype 1.0: shape (2, 2), by columns where `order` is \x88.
std::string pickled(const std::string& data, const std::string& backend = "sleef", char order = '\x89') {
  const auto word = [](const std::string& x) {
    return "\x8c" + std::string(1, static_cast<char>(x.size())) + x + "\x94";
  };
  const std::string zero(1, '\0');
  return "\x80\x04\x95" + std::string(8, '\1') + word("numpy._core.multiarray") + word("_reconstruct") + "\x93\x94" +
         word("numpy") + word("ndarray") + "\x93\x94K" + zero + "\x85\x94" + "C\1b\x94\x87\x94R\x94(K\1K\2K\2\x86\x94" +
         word("numpy_quaddtype") + word("QuadPrecDType") + "\x93\x94" + word(backend) + "\x85\x94R\x94" + order + "C" +
         static_cast<char>(data.size()) + data + "\x94t\x94" + "b.";
}

#if defined(__SIZEOF_FLOAT128__)
TEST(Npy, ReadsArraysOfQuaddtype) {
  TemporaryFolder folder;
  const binary128 third = static_cast<binary128>(1) / 3;
  const std::string numbers = raw<binary128>({1, 2, third, -4}), header = dictionary("|O", "(2, 2)");
  const QuadMatrix x = read_quad_npy(folder.write("x.npy", npy(header, pickled(numbers))), Vectors::refused);
  EXPECT_EQ(x.order, Order::row_major);
  ASSERT_EQ(x.entries.size(), 4u);
  EXPECT_EQ(x.entries[1], dd(2));
  EXPECT_EQ(x.entries[2].hi, 1.0 / 3);
  EXPECT_EQ(x.entries[2].lo, static_cast<double>(third - static_cast<binary128>(1.0 / 3)));
  EXPECT_EQ(
      read_quad_npy(folder.write("y.npy", npy(header, pickled(numbers, "sleef", '\x88'))), Vectors::refused).order,
      Order::column_major);
  const auto refused = [&](const std::string& pickle) {
    const std::string path = folder.write("z.npy", npy(header, pickle));
    EXPECT_THROW(read_quad_npy(path, Vectors::refused), FileError);
  };
  refused(pickled(numbers.substr(16)));
  refused(pickled(numbers, "another"));
  refused(pickled(numbers) + "x");
  refused(pickled(numbers).substr(0, 90));
  refused("cos\nsystem\n(S'true'\ntR.");
}
#endif

struct Broken {
  const char* dictionary;
  const char* message;  // what it must say, in part
};

TEST(Npy, RefusesBrokenHeaders) {
  const Broken broken[] = {
      {"{'descr': '<c16', 'fortran_order': False, 'shape': (2, 3), }", "complex"},
      {"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }", "'<f2'"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }", "'|O'"},
      {"{'descr': '<f16', 'fortran_order': False, 'shape': (2, 3), }", "'<f16'"},
      {"{'descr': 'f8', 'fortran_order': False, 'shape': (2, 3), }", "'f8'"},
      {"{'descr': '', 'fortran_order': False, 'shape': (2, 3), }", "''"},
      {"{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2, 3), }", "structures"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", "reshape it to (1, 6) or (6, 1)"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "0 dimensions"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3), }", "3 dimensions"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (6), }", "not a tuple"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2, -3), }", "negative length -2"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (2.0, 3), }", "')' expected"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 3), }", "beyond 2^63"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "more than 2^63 bytes"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000), }", "this machine has"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (1000, 1000), }", "truncated"},
      {"{'descr': '<f8', 'fortran_order': No, 'shape': (2, 3), }", "neither True nor False"},
      {"{'descr': '<f8', 'shape': (2, 3), }", "lacks 'fortran_order'"},
      {"{'fortran_order': False, 'shape': (2, 3), }", "lacks 'descr'"},
      {"{'descr': '<f8', 'fortran_order': False, }", "lacks 'shape'"},
      {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", "'descr' twice"},
      {"{'descr': '<f8', 'order': 1, 'fortran_order': False, 'shape': (2, 3), }", "unknown key 'order'"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), } + 1", "goes on after"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3", "')' expected"},
      {"{'descr': '<f8", "a string expected"},
      {"", "'{' expected"},
  };
  for (const Broken& b : broken) {
    const std::string message = refusal(npy(b.dictionary, raw<double>({1, 2, 3, 4, 5, 6})));
    EXPECT_NE(message.find(b.message), std::string::npos) << b.dictionary << "\n  said: " << message;
  }
}

TEST(Npy, RefusesUnknownVersionsAndLongHeaders) {
  std::string bytes = small_npy();
  bytes[6] = 4;
  EXPECT_EQ(refusal(bytes), "is of .npy version 4.0; 1.0, 2.0 and 3.0 can be read");
  EXPECT_EQ(refusal("\x93NUMPY" + std::string{2, 0} + "\xff\xff\xff\xff"), "its header claims 4294967295 bytes");
}

TEST(Npy, RefusesWhatIsNoFile) {
  TemporaryFolder folder;
  EXPECT_THROW(read_npy(folder / "absent.npy"), FileError);
  EXPECT_THROW(read_npy(folder / ""), FileError);
}

TEST(NpyHeader, ReadsWhatOtherWritersProduce) {
  const NpyHeader expected{"<f8", true, {2, 3}};
  EXPECT_EQ(parse_npy_dictionary("{'descr':'<f8','fortran_order':True,'shape':(2,3)}"), expected);
  EXPECT_EQ(
      parse_npy_dictionary(" { \"shape\" : ( 2L , 3L , ) , \"fortran_order\" : True , \"descr\" : \"<f8\" , } \n"),
      expected);
}

TEST(NpyHeader, PreambleEndsAtAMultipleOf64WithANewline) {
  for (std::int64_t rows : {std::int64_t{1}, std::int64_t{12345}, std::int64_t{1} << 60}) {
    const NpyHeader header{"<f4", false, {rows, 7}};
    const std::string preamble = npy_preamble(header);
    EXPECT_EQ(preamble.size() % 64, 0u);
    EXPECT_EQ(preamble.back(), '\n');
    EXPECT_EQ(preamble.substr(8, 2), little_endian(preamble.size() - 10, 2));
    EXPECT_EQ(parse_npy_dictionary(preamble.substr(10)), header);
  }
}

TEST(Npy, WritesTheBytesThatNumPyWrites) {
  TemporaryFolder folder;
  OutputFile file(folder / "x.npy");
  write_npy(file, Matrix{1, 2, Order::row_major, std::vector<double>{1, -2}}, Order::row_major);
  file.commit();
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }";
  header += std::string(117 - header.size(), ' ') + "\n";
  const std::string start = "\x93NUMPY" + std::string(1, 1) + std::string(1, 0) + little_endian(118, 2);
  const std::string data = little_endian(0x3ff0000000000000, 8) + little_endian(0xc000000000000000, 8);
  EXPECT_EQ(contents(folder / "x.npy"), start + header + data);
}

TEST(Npy, RoundTripKeepsEveryBit) {
  TemporaryFolder folder;
  const double tiny = std::numeric_limits<double>::denorm_min(), inf = std::numeric_limits<double>::infinity();
  const std::vector<double> doubles = {0.1, -0.0, tiny, inf, -inf, 1e308};
  for (Order order : {Order::row_major, Order::column_major}) {
    OutputFile file(folder / "x.npy");
    write_npy(file, Matrix{3, 2, order, doubles}, order);
    file.commit();
    const Matrix back = read_matrix(folder / "x.npy");
    EXPECT_EQ(back.order, order);
    EXPECT_EQ(back.rows, 3);
    EXPECT_EQ(raw(std::get<std::vector<double>>(back.entries)), raw(doubles));
  }
}

TEST(Npy, TheOtherOrderHoldsTheSameMatrix) {
  TemporaryFolder folder;
  for (const auto& [rows, columns] : {std::pair{0, 3}, {1, 1}, {5, 40}, {16, 17}, {49, 32}}) {
    std::vector<float> entries(static_cast<std::size_t>(rows * columns));
    std::iota(entries.begin(), entries.end(), 1.0f);
    for (const auto& [from, to] :
         {std::pair{Order::column_major, Order::row_major}, {Order::row_major, Order::column_major}}) {
      const Matrix x{rows, columns, from, entries};
      OutputFile file(folder / "x.npy");
      write_npy(file, x, to);
      file.commit();
      for (const Matrix& y : {read_npy(folder / "x.npy"), in_order(x, to)}) {
        ASSERT_EQ(y.order, to);
        ASSERT_FALSE(y.is_double());
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j) ASSERT_EQ(y.at(i, j), x.at(i, j)) << rows << " x " << columns;
      }
    }
  }
}

}  // namespace
}  // namespace vernier::cli::npy_test
