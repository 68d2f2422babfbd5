#include "npy_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <set>

namespace vernier::cli {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument(what); }

// The subset of Python literals that such a header can hold.
class Literals {
 public:
  explicit Literals(std::string_view text) : rest_(text) {}

  bool accept(std::string_view token) {
    skip_blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("'{}' expected in its header before '{}'", token, rest_.substr(0, 20)));
  }

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

  std::string string() {
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const auto end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos)
      fail(fmt::format("a string expected in its header before '{}'", rest_.substr(0, 20)));
    std::string value(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return value;
  }

  bool boolean() {
    if (accept("True")) return true;
    if (accept("False")) return false;
    fail("fortran_order is neither True nor False");
  }

  std::int64_t length() {
    skip_blanks();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::result_out_of_range) fail("a length in its shape is beyond 2^63");
    if (error != std::errc()) fail(fmt::format("a length expected in its shape before '{}'", rest_.substr(0, 20)));
    if (value < 0) fail(fmt::format("its shape holds the negative length {}", value));
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    accept("L");  // written by Python 2
    return value;
  }

 private:
  void skip_blanks() {
    const auto first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }

  std::string_view rest_;
};

std::vector<std::int64_t> parse_shape(Literals& text) {
  std::vector<std::int64_t> shape;
  text.expect("(");
  while (!text.accept(")")) {
    shape.push_back(text.length());
    if (!text.accept(",")) {
      if (shape.size() == 1 && text.accept(")")) fail("its shape is not a tuple");
      text.expect(")");
      break;
    }
  }
  return shape;
}

// Behind its first bracket: the one structure that is known, as NumPy writes it.
std::string parse_structure(Literals& text) {
  std::vector<std::string> words;
  while (!text.accept("]")) {
    text.expect("(");
    words.push_back(text.string());
    text.expect(",");
    words.push_back(text.string());
    text.expect(")");
    text.accept(",");
    if (words.size() > 4) break;
  }
  if (words != std::vector<std::string>{"hi", "<f8", "lo", "<f8"})
    fail("its entries are structures; real numbers, or the fields hi and lo of type <f8, are expected");
  return npy_dd_descr;
}

}  // namespace

NpyHeader parse_npy_dictionary(std::string_view dictionary) {
  Literals text(dictionary);
  NpyHeader header;
  std::set<std::string> seen;
  text.expect("{");
  while (!text.accept("}")) {
    const std::string key = text.string();
    if (!seen.insert(key).second) fail(fmt::format("its header holds '{}' twice", key));
    text.expect(":");
    if (key == "descr") {
      header.descr = text.accept("[") ? parse_structure(text) : text.string();
    } else if (key == "fortran_order") {
      header.fortran_order = text.boolean();
    } else if (key == "shape") {
      header.shape = parse_shape(text);
    } else {
      fail(fmt::format("its header holds the unknown key '{}'", key));
    }
    if (!text.accept(",")) {
      text.expect("}");
      break;
    }
  }
  if (!text.at_end()) fail("its header goes on after the dictionary");
  for (const char* key : {"descr", "fortran_order", "shape"}) {
    if (!seen.contains(key)) fail(fmt::format("its header lacks '{}'", key));
  }
  return header;
}

std::string npy_preamble(const NpyHeader& header) {
  const char* comma = header.shape.size() == 1 ? "," : "";
  const std::string descr = header.descr == npy_dd_descr ? header.descr : "'" + header.descr + "'";
  std::string dictionary = fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': ({}{}), }}", descr,
                                       header.fortran_order ? "True" : "False", fmt::join(header.shape, ", "), comma);
  constexpr std::size_t fixed = 10;  // magic 6, version 2, length 2
  const std::size_t length = (fixed + dictionary.size() + 1 + 63) / 64 * 64 - fixed;
  dictionary.resize(length - 1, ' ');
  std::string preamble("\x93NUMPY\x01\x00", 8);
  preamble += static_cast<char>(length & 0xff);
  preamble += static_cast<char>(length >> 8);
  return preamble + dictionary + '\n';
}

}  // namespace vernier::cli
