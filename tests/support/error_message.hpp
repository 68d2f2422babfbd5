// What a call with a bad argument says.
#pragma once

#include <string>

#include "vernier/vernier.hpp"

namespace vernier::test {

template <class Call>
std::string message(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status() == Status::invalid_argument ? error.what() : "another status";
  }
  return "no error";
}

}  // namespace vernier::test
