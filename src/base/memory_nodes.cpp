#include "base/memory_nodes.hpp"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <exception>
#include <fstream>

#include "base/uncancelled.hpp"

namespace vernier {
namespace {

constexpr int most_nodes = 1024;

std::vector<int> usable_processors() {
  std::vector<int> list;
  cpu_set_t own;
  if (sched_getaffinity(0, sizeof own, &own) != 0) return list;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &own)) list.push_back(i);
  return list;
}

bool has_a_policy() {
  int mode = MPOL_DEFAULT;
  return syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0) != 0 || mode != MPOL_DEFAULT;
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> list;
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const char *at = text.data(), *const end = text.data() + text.size();
  while (at != end) {
    int first = 0;
    auto read = std::from_chars(at, end, first);
    int last = first;
    if (read.ec == std::errc{} && read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc{} || first < 0 || last < first || last - first >= CPU_SETSIZE) return {};
    for (int i = first; i <= last; ++i) list.push_back(i);
    at = read.ptr;
    if (at == end) break;
    if (*at != ',' || ++at == end) return {};
  }
  return list;
}

std::vector<int> nodes_of(const std::string& folder, const std::vector<int>& processors) {
  const Uncancelled reads_files;
  const auto line_of = [&](const std::string& name) {
    std::ifstream file(folder + "/" + name);
    std::string line;
    std::getline(file, line);
    return line;
  };
  std::vector<int> nodes;
  for (const int node : parse_cpu_list(line_of("has_memory"))) {
    const std::vector<int> own = parse_cpu_list(line_of("node" + std::to_string(node) + "/cpulist"));
    if (std::find_first_of(own.begin(), own.end(), processors.begin(), processors.end()) != own.end())
      nodes.push_back(node);
  }
  return nodes;
}

bool interleave(void* memory, std::size_t bytes, const std::vector<int>& nodes) {
  constexpr std::size_t bits = sizeof(unsigned long) * CHAR_BIT;
  unsigned long mask[most_nodes / bits] = {};
  for (const int node : nodes) {
    if (node < 0 || node >= most_nodes) return false;
    mask[static_cast<std::size_t>(node) / bits] |= 1ul << static_cast<std::size_t>(node) % bits;
  }
  return syscall(SYS_mbind, memory, bytes, MPOL_INTERLEAVE, mask, most_nodes, 0) == 0;
}

void spread_over_nodes(void* memory, std::size_t bytes) noexcept {
  try {
    static const std::vector<int> nodes = nodes_of("/sys/devices/system/node", usable_processors());
    if (nodes.size() > 1 && !has_a_policy()) interleave(memory, bytes, nodes);
  } catch (const std::exception&) {  // no memory for the lists
  }
}

}  // namespace vernier
