#include "pickled_quads.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace vernier::cli {
namespace {

// https://docs.python.org/3/library/pickletools.html
enum class Opcode : unsigned char {
  proto = 0x80,
  frame = 0x95,
  short_unicode = 0x8c,
  memoize = 0x94,
  stack_global = 0x93,
  get = 'h',
  small_integer = 'K',
  two_byte_integer = 'M',
  integer = 'J',
  long_integer = 0x8a,
  mark = '(',
  tuple = 't',
  tuple_of_1 = 0x85,
  tuple_of_2 = 0x86,
  tuple_of_3 = 0x87,
  reduce = 'R',
  build = 'b',
  yes = 0x88,
  no = 0x89,
  short_bytes = 'C',
  bytes = 'B',
  long_bytes = 0x8e,
  stop = '.'
};

class Walk {
 public:
  explicit Walk(std::string_view pickle) : rest_(pickle) {}

  // False behind the last opcode.
  bool step() {
    using enum Opcode;
    const auto opcode = static_cast<Opcode>(number(1));
    switch (opcode) {
      case memoize:
      case stack_global:
      case mark:
      case tuple:
      case tuple_of_1:
      case tuple_of_2:
      case tuple_of_3:
      case reduce:
      case build:
        return true;
      case proto:
      case get:
      case small_integer:
        return skip(1);
      case two_byte_integer:
        return skip(2);
      case integer:
        return skip(4);
      case frame:
        return skip(8);
      case long_integer:
        return skip(number(1));
      case short_unicode:
        words.push_back(take(number(1)));
        return true;
      case yes:
      case no:
        fortran_order = opcode == yes;
        return true;
      case short_bytes:
        data = take(number(1));
        return true;
      case bytes:
        data = take(number(4));
        return true;
      case long_bytes:
        data = take(number(8));
        return true;
      case stop:
        return false;
    }
    throw std::invalid_argument(fmt::format(
        "its pickle has the opcode {:#04x}: expected one array of NumPy's quaddtype", static_cast<unsigned>(opcode)));
  }
  bool at_end() const { return rest_.empty(); }

  std::vector<std::string_view> words;
  std::string_view data;
  bool fortran_order = false;

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) throw std::invalid_argument("truncated: the file ends inside its pickle");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  bool skip(std::uint64_t count) {
    take(count);
    return true;
  }
  std::uint64_t number(int width) {
    const std::string_view digits = take(static_cast<std::uint64_t>(width));
    std::uint64_t value = 0;
    for (int i = width - 1; i >= 0; --i)
      value = value << 8 | static_cast<unsigned char>(digits[static_cast<std::size_t>(i)]);
    return value;
  }

  std::string_view rest_;
};

}  // namespace

PickledQuads parse_pickled_quads(std::string_view pickle) {
  Walk walk(pickle);
  while (walk.step()) {
  }
  const std::vector<std::string_view>& w = walk.words;
  const bool known = w.size() == 7 && (w[0] == "numpy._core.multiarray" || w[0] == "numpy.core.multiarray") &&
                     w[1] == "_reconstruct" && w[2] == "numpy" && w[3] == "ndarray" && w[4] == "numpy_quaddtype" &&
                     w[5] == "QuadPrecDType" && (w[6] == "sleef" || w[6] == "longdouble");
  if (!known)
    throw std::invalid_argument(
        "its entries are Python objects: of those only arrays of NumPy's quaddtype can be read");
  if (!walk.at_end()) throw std::invalid_argument("has bytes after its pickle");
  return {walk.data, walk.fortran_order, w[6] == "longdouble"};
}

PickleAround pickle_around_quads(const std::vector<std::int64_t>& shape, bool fortran_order) {
  using enum Opcode;
  std::string text;
  const auto add = [&](Opcode code) { text += static_cast<char>(code); };
  const auto add_number = [&](std::int64_t value) {
    for (int byte = 0; byte < 8; ++byte) text += static_cast<char>(value >> 8 * byte & 0xff);
  };
  const auto add_integer = [&](std::int64_t value) { add(long_integer), text += '\x08', add_number(value); };
  const auto add_class = [&](std::string_view module, std::string_view name) {
    for (const std::string_view word : {module, name})
      add(short_unicode), text += static_cast<char>(word.size()), text += word;
    add(stack_global);
  };
  add(proto), text += '\x04';
  add_class("numpy._core.multiarray", "_reconstruct");
  add_class("numpy", "ndarray");
  add_integer(0), add(tuple_of_1), add(short_bytes),
      text +=
      "\x01"
      "b",
      add(tuple_of_3), add(reduce);
  add(mark), add_integer(1);
  std::int64_t count = 1;
  for (const std::int64_t length : shape) add_integer(length), count *= length;
  add(shape.size() == 1 ? tuple_of_1 : tuple_of_2);
  add_class("numpy_quaddtype", "QuadPrecDType");
  add(short_unicode), text += "\x05sleef", add(tuple_of_1), add(reduce);
  add(fortran_order ? yes : no);
  add(long_bytes), add_number(16 * count);
  return {text, {static_cast<char>(tuple), static_cast<char>(build), static_cast<char>(stop)}};
}

}  // namespace vernier::cli
