#include "residue/pass_state.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <new>

#include "base/fork_mutex.hpp"

namespace vernier {
namespace {

ForkMutex& mutex = *new ForkMutex;

// One table in memory of its own: a pass may begin where no memory is left and C is half written.
template <class Table>
class Once {
 public:
  template <class... Arguments>
  const Table& get(const Arguments&... arguments) {
    if (const Table* known = known_.load(std::memory_order_acquire)) return *known;
    const std::lock_guard lock(mutex);
    if (known_.load(std::memory_order_relaxed) == nullptr)
      known_.store(new (memory_) Table(arguments...), std::memory_order_release);
    return *known_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<const Table*> known_{nullptr};
  alignas(Table) std::byte memory_[sizeof(Table)];
};

}  // namespace

const DigitTables& digit_tables(int moduli, PanelSide side, bool narrow, int limbs) {
  constexpr std::size_t forms = 1 + max_limbs;  // narrow, or so many limbs
  static std::array<Once<DigitTables>, 2 * forms*(max_moduli + 1)> tables;
  const std::size_t form = narrow ? 0 : static_cast<std::size_t>(limbs);
  const std::size_t at = 2 * (static_cast<std::size_t>(moduli) * forms + form) + (side == PanelSide::rows ? 0 : 1);
  const ResidueSystem& system = residue_system(moduli);
  return tables[at].get(system, side, narrow, limbs);
}

const RecombineTables& recombine_tables(int moduli) {
  static std::array<Once<RecombineTables>, max_moduli + 1> tables;
  const ResidueSystem& system = residue_system(moduli);
  return tables[static_cast<std::size_t>(moduli)].get(system);
}

}  // namespace vernier
