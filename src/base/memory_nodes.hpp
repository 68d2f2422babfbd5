// Memory of machines with several NUMA nodes. Threads take their shares of a product as they come, so that no node is
// the right one for a page: pages in turns let all memory controllers serve all threads (bench/results/README.md).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vernier {

// "0-3,8": 0 1 2 3 8; empty for what is no such list.
std::vector<int> parse_cpu_list(std::string_view text);

// Nodes in that folder (/sys/devices/system/node) to which one of these processors belongs.
std::vector<int> nodes_of(const std::string& folder, const std::vector<int>& processors);

// Pages that nobody has touched go to these nodes in turns; false where the system refuses.
bool interleave(void* memory, std::size_t bytes, const std::vector<int>& nodes);

// The same over the nodes whose processors this process may use, if they are several and the process has no memory
// policy of its own. A wish: refusal changes the speed only.
void spread_over_nodes(void* memory, std::size_t bytes) noexcept;

}  // namespace vernier
