// The file of measured rates, which plans read wherever it is: what is no such file counts as none, and a factor is a
// positive number.
#include <cmath>

#include "fuzz/target.hpp"
#include "product/plan/measured_rates.hpp"

namespace vernier::fuzz {

std::vector<std::string> seeds() {
  const std::string head = R"({"machines": [{"processor": "P", "blas": "B", "date": "2026-11-26", "times": [)",
                    tail = "]}]}", first = R"({"method": "native", "type": "double", "threads": 2, "n": 256, )",
                    second = R"("moduli": 0, "seconds": 1.5e-3})";
  return {head + first + second + tail, head + first + second + "," + first + R"("moduli": 15, "seconds": 2})" + tail,
          head + tail, R"({"machines": []})", "[]"};
}

void try_input(std::string_view bytes) {
  const MemoryFile file(bytes);
  const MeasuredRates rates = read_rates(file.path(), "P", "B");
  for (const double size : {1.0, 300.0, 1e5}) {
    const auto all = [](const MeasuredTime&) { return true; };
    const auto tabled = [](const MeasuredTime& t) { return 1e-12 * std::pow(static_cast<double>(t.n), 3); };
    const double factor = rates.factor(size, 2, all, tabled);
    promise(factor > 0 && std::isfinite(factor), "a factor is a positive number");
  }
}

}  // namespace vernier::fuzz
