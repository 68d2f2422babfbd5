#include <nlohmann/json.hpp>

#include "vernier/slices.hpp"

namespace vernier {

std::string SliceReport::json() const {
  return nlohmann::ordered_json{{"engine", engine},
                                {"mode", mode},
                                {"bits", bits},
                                {"slices_a", slices_a},
                                {"slices_b", slices_b},
                                {"fast", fast},
                                {"products", products},
                                {"multiplied", multiplied},
                                {"skipped", skipped},
                                {"left_a", left_a},
                                {"left_b", left_b},
                                {"workspace", workspace},
                                {"seconds", seconds},
                                {"seconds_split", seconds_split},
                                {"seconds_products", seconds_products},
                                {"seconds_sum", seconds_sum}}
      .dump();
}

}  // namespace vernier
