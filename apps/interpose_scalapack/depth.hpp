// How deep PBLAS works: its local products have the k that pilaenv_ answers, 32, which nothing fast can be made of.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "matrix.hpp"

namespace vernier::interpose {

inline constexpr double most_panel_bytes = 2147483647.0 / 2;  // PBLAS counts them in an int, and some take two
inline constexpr double small_panels = 64e6;                  // bytes that are never too many
inline constexpr double most_of_matrices = 3;

// Bytes that the panels of a process may take beside its matrices.
double most_panels(double bytes_of_matrices);

// Memory for a panel, in large pages where it is large: little of the time goes into making them. For free(); null
// where there is none.
void* allocate_panel(std::size_t bytes);

// The blocks of k that PBLAS takes, and what its longest panel of them takes on a process.
struct PanelDepth {
  int k = 0;  // 0: PBLAS's own
  double bytes = 0;
};

// All of k, or as much as that leaves room for, 1024 at least. The same on every process: from global sizes alone.
PanelDepth depth_of(const Grid& grid, std::initializer_list<const SubMatrix*> matrices, int k,
                    std::size_t element_bytes);

// The same for routines that cut C into such blocks too: 1024 at most.
PanelDepth block_depth_of(const Grid& grid, std::initializer_list<const SubMatrix*> matrices, int k,
                          std::size_t element_bytes);

// PBLAS brings a panel to one row or column of processes and then to all, so it holds each of two operands twice.
inline constexpr int panels_at_a_time = 4;

// Panels of this thread's next product, which PB_Cmalloc hands out, since PBLAS knows no return without memory. What it
// does not take goes at the end of DeepBlocks. False: there is no memory, and none is held.
bool reserve_panels(int count, double bytes);
void release_panels();

// That depth where every process has memory for its panels, else PBLAS's own. All processes of the grid call it.
int agreed_depth(const Grid& grid, const PanelDepth& depth);

// While it lives, pilaenv_ of this thread answers that depth; 0: the library's own.
class DeepBlocks {
 public:
  explicit DeepBlocks(int depth);
  ~DeepBlocks();
  DeepBlocks(const DeepBlocks&) = delete;
  DeepBlocks& operator=(const DeepBlocks&) = delete;

 private:
  int before_;
};

}  // namespace vernier::interpose
