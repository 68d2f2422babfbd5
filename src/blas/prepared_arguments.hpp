// Does a prepared operand fit a product? For operands in any memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/status.hpp"
#include "vernier/prepared.hpp"

namespace vernier {

// name: A or B; the product wants op(name) of rows x columns on that side.
template <class Prepared, class AnyOptions>
void check_prepared(const char* name, const Prepared& x, Side side, std::int64_t rows, std::int64_t columns,
                    const AnyOptions& options) {
  const auto text = [](Side s) { return s == Side::left ? "left" : "right"; };
  require(x.side() == side, "gemm: {} was prepared as the {} factor; expected the {} one", name, text(x.side()),
          text(side));
  require(x.rows() == rows && x.columns() == columns, "gemm: {} was prepared as {} x {}; expected {} x {}", name,
          x.rows(), x.columns(), rows, columns);
  require(x.contract() == options.contract, "gemm: {} was prepared for contract {}; expected {}", name,
          x.contract().text(), options.contract.text());
  require(options.engine.empty() || options.engine == x.engine(),
          "gemm: {} was prepared for engine {}; expected engine {}", name, x.engine(), options.engine);
}

// "A is prepared for engine amx"
inline std::string prepared_reason(bool a, bool b, const std::string& engine) {
  return fmt::format("{} prepared for engine {}", a && b ? "A and B are" : a ? "A is" : "B is", engine);
}

}  // namespace vernier
