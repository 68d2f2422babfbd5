// Operands that are dealt out as C is: rows of A as rows of C, columns of B as columns of C. Each process then gets its
// rows of A from the others of its row of the grid, block by block, and its columns of B from those of its column.
// PBLAS would first bring all of a panel to one of them.
#pragma once

#include <memory>

#include "product.hpp"

namespace vernier::interpose {

// A panel is kept for this thread's next product, up to a size.
struct KeepPanel {
  std::size_t bytes = 0;
  void operator()(void* memory) const;
};

class WholePanels {
 public:
  WholePanels(const Grid& grid, const DistributedCall& call) : grid_(grid), c_(call) {}

  // From global facts alone; false: PBLAS is to bring the panels.
  static bool serves(const DistributedCall& call);

  bool allocate();  // before any process sends
  void gather();    // on all processes

  const std::byte* a() const { return a_ ? a_.get() : static_cast<const std::byte*>(c_.a_part.X); }
  const std::byte* b() const { return b_ ? b_.get() : static_cast<const std::byte*>(c_.b_part.X); }
  std::int64_t lda() const { return a_ ? c_.a->ld() : c_.a_part.ldx; }
  std::int64_t ldb() const { return b_ ? c_.k : c_.b_part.ldx; }

 private:
  using Memory = std::unique_ptr<std::byte, KeepPanel>;

  bool allocate(Memory& memory, std::int64_t vectors) const;
  void gather_rows(std::size_t size);
  void gather_columns(std::size_t size);

  const Grid& grid_;
  const DistributedCall& c_;
  Memory a_, b_;  // null: they lie here in whole
};

// C = alpha A B + beta C by the local BLAS, which is to be large products of the program's own. False, with C
// untouched, where PBLAS is to do it.
bool multiply_by_blas(const Grid& grid, const DistributedCall& call);

}  // namespace vernier::interpose
