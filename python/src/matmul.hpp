// vernier.matmul and vernier.record.
#pragma once

#include <string>

#include "array.hpp"

namespace vernier::python {

// a @ b; the other arguments are those of vernier.matmul. What is no array of one of the known libraries goes to
// vernier._other, which refuses it or calls this again with what it can be seen as.
nb::object matmul(nb::handle a, nb::handle b, nb::handle contract, nb::handle out, bool report,
                  const std::string& engine, int threads, nb::handle progress);

// Reports of products of this thread are appended to all lists that are open.
void push_record(nb::list reports);
void pop_record();
void note(const nb::object& report);

}  // namespace vernier::python
