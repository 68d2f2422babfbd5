#include "blas/offload/kept_panels.hpp"

#include <algorithm>

#include "base/size.hpp"

namespace vernier {

KeptPanels::KeptPanels(const offload::Schedule& schedule, std::int64_t k, const Bytes& bytes_of, std::size_t most)
    : panels_(schedule.panels.size()), uses_(schedule.panels.size(), 0) {
  for (const offload::Block& b : schedule.blocks)
    for (const int panel : {b.a, b.b}) ++uses_[static_cast<std::size_t>(panel)];
  if (!bytes_of) return;
  for (std::size_t p = 0; p < panels_.size(); ++p) {
    if (uses_[p] < 2) continue;
    const offload::Panel& panel = schedule.panels[p];
    const std::size_t bytes = bytes_of(panel.rows * panel.columns / k, k);
    panels_[p].wanted = bytes > 0;
    bytes_ = size_sum(bytes_, bytes);
  }
  if (bytes_ > most) let_go();
}

void KeptPanels::let_go() {
  std::fill(panels_.begin(), panels_.end(), KeptOperand{});
  bytes_ = 0;
}

void KeptPanels::used(int panel) {
  if (--uses_[static_cast<std::size_t>(panel)] == 0) at(panel) = {};
}

KeptPanels::Use::Use(KeptPanels& kept, const offload::Block& block)
    : kept_(kept), block_(block), wanted_(a().wanted || b().wanted) {}

// The data may not have been served by what is kept: then those of the other blocks will not be either.
KeptPanels::Use::~Use() {
  if (wanted_ && !a().wanted && !b().wanted) kept_.let_go();
  kept_.used(block_.a);
  kept_.used(block_.b);
}

}  // namespace vernier
