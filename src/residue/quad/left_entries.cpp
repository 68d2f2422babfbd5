#include "residue/quad/left_entries.hpp"

#include <omp.h>

#include <atomic>
#include <bit>

#include "base/environment.hpp"
#include "residue/quad/quad_writer.hpp"

namespace vernier {
namespace {

template <class TC>
LeftCounts decide_entries_of(const LeftProblem& problem, std::int64_t i0, std::int64_t j0, LeftMemory& room) {
  const RecombineTables tables(residue_system(problem.moduli));
  const QuadProblem<TC> product{problem.a, problem.b, problem.alpha,  problem.beta,
                                nullptr,   0,         {problem.bits}, problem.rounding};
  const QuadState state{problem.rows, problem.columns, tables, 1};
  const std::int64_t k = problem.a.k;
  std::atomic<std::int64_t> looked_at = 0, summed = 0;  // base/shared_result.hpp: no reduction
#pragma omp parallel num_threads(room.threads)
  {
    const FloatingEnvironment environment;
    EntryMemory memory;
    for (int p = 0; p < most_parts; ++p) {
      memory.row.part[p] = room.vectors.get() + ((omp_get_thread_num() * most_parts + p) * 2) * k;
      memory.column.part[p] = memory.row.part[p] + k;
    }
    QuadWriter<TC> writer(product, state);
#pragma omp for schedule(dynamic, 16)
    for (std::size_t e = 0; e < room.entries.size(); ++e) {
      LeftEntry& x = room.entries[e];
      const WideNumber leading = leading_bits_of(recombine_entry(tables, x.residues, 1), 0);
      auto c = std::bit_cast<TC>(x.c);
      writer.write(i0 + x.row, j0 + x.column, leading, x.residues, c, memory);
      x.c = std::bit_cast<dd>(c);
    }
    looked_at += memory.looked_at, summed += memory.summed;
  }
  return {looked_at, summed};
}

}  // namespace

LeftMemory::LeftMemory(std::int64_t most, std::int64_t k, int all_threads)
    : threads(all_threads), vectors(new double[static_cast<std::size_t>(threads * 2 * most_parts * k)]) {
  entries.reserve(static_cast<std::size_t>(most));
}

LeftCounts decide_left_entries(const LeftProblem& problem, std::int64_t i0, std::int64_t j0, LeftMemory& memory) {
#if defined(__SIZEOF_FLOAT128__)
  if (problem.binary128) return decide_entries_of<binary128>(problem, i0, j0, memory);
#endif
  return decide_entries_of<dd>(problem, i0, j0, memory);
}

}  // namespace vernier
