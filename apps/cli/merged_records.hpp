// Records of several processes of one program, as an MPI program's ranks are, put together.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace vernier::cli {

// One for each library, program and contract, in the order of their first: counts and seconds are sums, bounds and
// spans the largest; "processes" says of how many, where there are several.
std::vector<nlohmann::ordered_json> merged_records(const std::vector<nlohmann::ordered_json>& records);

}  // namespace vernier::cli
