// What the stages of one pass over C share.
#pragma once

#include "product/progress.hpp"
#include "residue/backend.hpp"
#include "residue/exact/exact_stage.hpp"
#include "residue/gemm.hpp"
#include "residue/recombine/recombine.hpp"
#include "residue/residues.hpp"

namespace vernier {

template <class T>
struct PassState {
  const ResiduePlan& plan;
  const ResidueProblem<T>& problem;
  const SchemeBackend<T>& backend;
  const VectorBuffers& vectors;
  const ExactStage<T>* exact;  // null unless C is rounded correctly
  const Pass& pass;
  const Blocking& blocking;
  const ResidueSystem& system;
  Sides<const DigitTables*> digits;
  const RecombineTables& recombine;
  PassBuffers buffers;

  PassState(const ResiduePlan& plan, const ResidueProblem<T>& problem, const SchemeBackend<T>& backend,
            const VectorBuffers& vectors, const ExactStage<T>* exact, const Pass& pass, Arena arena)
      : plan(plan),
        problem(problem),
        backend(backend),
        vectors(vectors),
        exact(exact),
        pass(pass),
        blocking(pass.blocking),
        system(residue_system(blocking.moduli)),
        digits{tables_of(PanelSide::rows), tables_of(PanelSide::columns)},
        recombine(recombine_tables(blocking.moduli)),
        buffers(carve_pass(arena, blocking, *plan.engine)) {}

  const DigitTables* tables_of(PanelSide side) const {
    return &digit_tables(blocking.moduli, side, pass.narrow, pass.limbs);
  }
  std::byte* scratch(int thread) const {
    return buffers.scratch + static_cast<std::size_t>(thread) * buffers.scratch_stride;
  }

  // Is any entry of these rows and columns written by the pass?
  bool has_entries(Range rows, Range columns) const {
    if (pass.every_entry) return true;
    if (pass.open_only) return has_open(rows, columns);
    const unsigned a = kinds(vectors.a.proofs, rows, plan.shape.m), b = kinds(vectors.b.proofs, columns, plan.shape.n);
    for (unsigned x = 0; x < proof_sets; ++x)
      for (unsigned y = 0; y < proof_sets; ++y)
        if ((a >> x & 1u) != 0 && (b >> y & 1u) != 0 && ((x & y) != 0) == pass.ordinary) return true;
    return false;
  }

 private:
  bool has_open(Range rows, Range columns) const {
    const std::int64_t row_strips = divide_up(plan.shape.m, strip_size);
    const std::int64_t row_end = std::min(divide_up(rows.begin + rows.count, strip_size), row_strips);
    const std::int64_t column_end = divide_up(std::min(columns.begin + columns.count, plan.shape.n), strip_size);
    for (std::int64_t t = columns.begin / strip_size; t < column_end; ++t)
      for (std::int64_t v = rows.begin / strip_size; v < row_end; ++v)
        if (vectors.open[t * row_strips + v]) return true;
    return false;
  }

  // Which sets of proofs occur.
  static unsigned kinds(const VectorProof* scales, Range range, std::int64_t limit) {
    unsigned set = 0;
    for (std::int64_t v = range.begin; v < std::min(range.begin + range.count, limit); ++v)
      set |= 1u << scales[v].proofs;
    return set;
  }
};

}  // namespace vernier
