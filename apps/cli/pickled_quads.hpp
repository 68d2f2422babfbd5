// Matrices as numpy.save writes, and numpy.load reads, arrays of NumPy's quaddtype: descr '|O', and a pickle of one
// ndarray. Nothing of it is executed: the opcodes of such a pickle are walked over, and any other one is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vernier::cli {

struct PickledQuads {
  std::string_view data;  // 16 bytes an entry, in the pickle
  bool fortran_order = false;
  bool long_double = false;  // the backend "longdouble"; else "sleef", which has binary128
};

// Throws std::invalid_argument with what is wrong.
PickledQuads parse_pickled_quads(std::string_view pickle);

// What stands before and behind the entries, 16 bytes each of the backend "sleef".
struct PickleAround {
  std::string before, behind;
};
PickleAround pickle_around_quads(const std::vector<std::int64_t>& shape, bool fortran_order);

}  // namespace vernier::cli
