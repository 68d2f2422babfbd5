// Numbers as the words of a modelled engine.
#pragma once

#include <cstring>
#include <vector>

#include "vernier/model.hpp"

namespace vernier::test {

inline std::vector<std::byte> packed(model::Format format, const std::vector<double>& x) {
  const auto bytes = static_cast<std::size_t>(model::storage_bytes(format));
  std::vector<std::byte> out(x.size() * bytes);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint64_t word = model::encode(format, x[i]);
    std::memcpy(out.data() + i * bytes, &word, bytes);
  }
  return out;
}

}  // namespace vernier::test
