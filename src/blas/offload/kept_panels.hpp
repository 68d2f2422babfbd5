// What a lane keeps of its panels on the device: of those that more than one block reads, until the last has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "blas/offload/kept.hpp"
#include "offload/schedule.hpp"

namespace vernier {

class KeptPanels {
 public:
  using Bytes = std::function<std::size_t(std::int64_t vectors, std::int64_t k)>;

  // bytes_of: of what is kept of an operand; empty: nothing is kept. most: bytes for all panels, else nothing is kept.
  KeptPanels(const offload::Schedule& schedule, std::int64_t k, const Bytes& bytes_of, std::size_t most);

  std::size_t bytes() const { return bytes_; }  // at most

  // The operands of a block, for its product.
  class Use {
   public:
    Use(KeptPanels& kept, const offload::Block& block);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    KeptOperand& a() const { return kept_.at(block_.a); }
    KeptOperand& b() const { return kept_.at(block_.b); }

   private:
    KeptPanels& kept_;
    const offload::Block& block_;
    const bool wanted_;
  };

 private:
  KeptOperand& at(int panel) { return panels_[static_cast<std::size_t>(panel)]; }
  void let_go();
  void used(int panel);

  std::vector<KeptOperand> panels_;
  std::vector<int> uses_;  // to come
  std::size_t bytes_ = 0;
};

}  // namespace vernier
