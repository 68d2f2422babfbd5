// All decisions about one product, in two steps: before the data are read, and after their statistics are known.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/int8_engine.hpp"
#include "plan/blocking.hpp"
#include "plan/bounds.hpp"
#include "plan/part_plan.hpp"
#include "scheme/scaling.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

// fp32 products of bf16 parts, tried first where there are any: data that they do not hold go the way that the rest
// of the plan says.
struct PartChoice {
  const PartEngine* engine = nullptr;
  PartBlocking blocking;
  Plan printable;
};

struct ProductPlan {
  ProductShape shape;
  bool single_precision = false;       // T is float
  bool doubled = false;                // the real form of a complex product, which three products serve as well
  bool exact = false;                  // the contract asks for correct rounding
  bool forced = false;                 // the caller named an int8 engine or asked for reproducible bits
  bool native_keeps_contract = true;   // the contract asks for no more than the type's own precision
  const Int8Engine* engine = nullptr;  // null: native
  ScalingRule rule;
  std::optional<LeanProduct> lean;                        // tried first
  std::size_t vector_bytes = 0;                           // of VectorBuffers
  std::size_t pass_bytes = 0;                             // left for the passes ...
  std::size_t least_pass_bytes = 0, most_pass_bytes = 0;  // ... and what it may be
  Blocking ordinary;
  Plan printable;
  std::optional<PartChoice> parts;
};

// The plan of a product so small that the native one is taken, in a tenth of a microsecond: what plan_product() comes
// to. False, and nothing is written, where that has to look further.
template <class T>
bool plan_small_product(const ProductShape& shape, const Options& options, Plan& plan);

// Throws Error on an unknown engine or where the workspace is too small.
template <class T>
ProductPlan plan_product(const ProductShape& shape, const Options& options, bool doubled = false);

// The plan with the planes of an operand, or of both, at hand; or as it was, where no workspace within the limit goes
// with their blocks of k.
ProductPlan with_prepared(const ProductPlan& plan, const PreparedSides& prepared);

// Workspace of a whole product at full speed, or the least with which it runs whatever the data.
template <class T>
std::size_t workspace_bytes(const ProductShape& shape, const Options& options, bool least);

// Operands with factors (in sixteenths, scheme/lean_factor.hpp), and from where on an entry is open.
struct LeanScales {
  ScalingRule rule;
  int a_factor, b_factor;
  double certain;

  double divisor() const { return a_factor * b_factor / 256.0; }
};

// One sweep over C for the entries that share a number of moduli.
struct Pass {
  Blocking blocking;
  std::optional<LeanScales> lean;
  bool open_only = false;  // the blocks of 32 x 32 that a lean pass has left open
  bool narrow = false;     // scaled elements fit narrow digits
  int limbs = 1;           // else: limbs of 62 bits
  bool ordinary = true;    // which entries are written ...
  bool every_entry = true;
};

struct PassList {
  Pass pass[2];
  int count = 0;
  bool native = false;  // the data ask for more than the scheme holds, or for more time than the native product takes
  bool beyond_scheme = false;
};

// The pass of the ordinary entries: known before the data are read.
Pass ordinary_pass(const ProductPlan& plan);

// The pass that a lean product begins with, and the one for the blocks that it leaves open.
Pass lean_pass(const ProductPlan& plan, const LeanScales& scales);
Pass open_pass(const ProductPlan& plan, const LeanScales& scales);

PassList plan_passes(const ProductPlan& plan, const Scaling& scaling);

}  // namespace vernier
