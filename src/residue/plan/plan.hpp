// All decisions about a product by residues, in two steps: before the data are read (blas/plan.cpp fills them in), and
// after their statistics are known.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/int8_engine.hpp"
#include "residue/plan/blocking.hpp"
#include "residue/plan/common_plan.hpp"
#include "residue/scale/scaling.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

struct ResiduePlan : CommonPlan {
  bool doubled = false;                                   // the real form of a complex product, which three serve, too
  const Int8Engine* engine = nullptr;                     // null: native
  std::optional<SpeculativeProduct> speculative;          // tried first
  std::size_t least_pass_bytes = 0, most_pass_bytes = 0;  // what pass_bytes may be
  Blocking ordinary;
  bool seems_wide =
      false;  // a sample of the vectors is: residues of more moduli may serve (residue/bound/moduli_guess)
};

// The plan with the planes of an operand, or of both, at hand; or as it was, where no workspace within the limit goes
// with their blocks of k.
ResiduePlan with_prepared(const ResiduePlan& plan, const PreparedSides& prepared);

// The plan with so many moduli for ordinary entries.
void set_ordinary_moduli(ResiduePlan& plan, int moduli);

// The printable part of a plan by residues.
void describe_residues(ResiduePlan& plan);

// Bytes of VectorBuffers.
std::size_t vector_bytes(const ProductShape& shape, int threads, bool exact);

// Operands with factors (in sixteenths, residue/scale/scaling.hpp), and from where on an entry is open.
struct SpeculativeScales {
  ScalingRule rule;
  Sides<int> factor;
  double certain;

  double divisor() const { return factor.a * factor.b / 256.0; }
};

// One sweep over C for the entries that share a number of moduli.
struct Pass {
  Blocking blocking;
  std::optional<SpeculativeScales> speculative;
  bool open_only = false;  // the blocks of 32 x 32 that a first pass has left open
  bool narrow = false;     // scaled elements fit narrow digits
  int limbs = 1;           // else: limbs of 62 bits
  bool ordinary = true;    // which entries are written ...
  bool every_entry = true;
};

using PassList = PassesOf<Pass>;

// The pass of the ordinary entries: known before the data are read.
Pass ordinary_pass(const ResiduePlan& plan);

// The pass that a speculative product begins with, and the one for the blocks that it leaves open.
Pass first_pass(const ResiduePlan& plan, const SpeculativeScales& scales);
Pass repair_pass(const ResiduePlan& plan, const SpeculativeScales& scales);

// May residues still win, or must they be taken, where statistics leave entries wide? By the least moduli that a
// product of |A| and |B| leaves to data, or by so many.
bool bound_may_win(const ResiduePlan& plan, int moduli = 12);

PassList plan_passes(const ResiduePlan& plan, const Scaling& scaling);

}  // namespace vernier
