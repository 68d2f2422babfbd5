// Decisions about a product on a GPU that need no GPU: numbers of moduli, blocks, and what the rates of a device make
// of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/workspace.hpp"
#include "engine/panel_cuda.hpp"
#include "product/plan/native_cost.hpp"
#include "product/route.hpp"
#include "product/sides.hpp"
#include "residue/bound/bound_scales.hpp"
#include "residue/bound/guess.hpp"
#include "residue/exact/sample.hpp"
#include "residue/plan/common_plan.hpp"
#include "residue/plan/cost_cuda.hpp"
#include "residue/plan/exact_choice.hpp"
#include "residue/scale/scaling.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

// A thread of the conversion sums its share of a vector in 32 bits.
inline constexpr std::int64_t longest_device_k = std::int64_t{1} << 26;

// What a plan asks of a device and an engine.
struct DeviceLimits {
  std::int64_t longest_k = 65536;  // of one int8 product
  bool int32_sums = false;         // the engine keeps a block of C in 32 bits
  bool strassen = true;            // there are kernels for it
  GpuModel gpu = {};               // whose estimates choose between kernels
};

struct PassForm {
  bool exact = false;     // with room for a list of all entries of a block
  bool strassen = false;  // in halves, by seven products of sums of quarters
  int products = 1;       // of a batch: their planes lie one product behind the other
};

// One pass goes over C in blocks of m_block x n_block, over k in blocks of k_block.
struct DeviceBlocking {
  int moduli = 0;
  PassForm form = {};
  std::int64_t m_block = 0, n_block = 0, k_block = 0;
  std::size_t bytes = 0;  // of DevicePassBuffers

  bool whole(const ProductShape& s) const { return s.m <= m_block && s.n <= n_block && s.k <= k_block; }
};

// The largest blocks that fit, all of C if they can; bytes > limit if even the smallest do not.
DeviceBlocking choose_device_blocking(const ProductShape& shape, int moduli, const DeviceLimits& limits,
                                      std::size_t limit, PassForm form = {});

struct DevicePassBuffers {
  std::uint8_t* a = nullptr;
  std::uint8_t* b = nullptr;
  std::int8_t* c = nullptr;
  std::size_t c_bytes = 0;
  std::int32_t* sums = nullptr;
  std::uint32_t* steps = nullptr;  // of products that keep pace
  std::uint32_t* open = nullptr;   // contract exact: entries that the rounding leaves open
};
// What one pass holds of m or n vectors and of k: all, or the first half.
constexpr std::int64_t plane_vectors(std::int64_t vectors, bool strassen) {
  return strassen ? half_vectors(vectors) : vectors;
}
constexpr std::int64_t plane_pitch(std::int64_t k, bool strassen) { return strassen ? half_depth(k) : device_pitch(k); }

// ready: operands whose planes are there already.
DevicePassBuffers carve_device_pass(Arena& arena, const DeviceBlocking& blocking, const DeviceLimits& limits,
                                    const Sides<bool>& ready = {});

// What outlives the passes, of each vector of an operand.
struct DeviceVectors {
  VectorStatistics* statistics = nullptr;
  int* scales = nullptr;  // of the pass at hand
  VectorProof* proofs = nullptr;
  // Where no host decides:
  int* wide_scales = nullptr;        // of wide entries
  unsigned* group_proofs = nullptr;  // EntryFilter
  std::uint32_t* filled = nullptr;   // FilledPieces of residues by scales from the product of |A| and |B|
  // Contract exact alone:
  cuda::DeviceLowestBitsLists lowest_bits;
  RoundError* errors = nullptr;
};

struct DeviceVectorBuffers : Sides<DeviceVectors> {
  // The words of the decision, where no host decides.
  cuda::DeviceRoute* route = nullptr;
  cuda::GuessFindings* guess = nullptr;
  cuda::RegularityState* regularity = nullptr;
  std::int8_t* balance = nullptr;  // of each k: exponents of balance.hpp
  // Contract exact alone:
  cuda::DeviceSample* sample = nullptr;
  cuda::DeviceOpenCounts* open_counts = nullptr;
  // What is zero before anything is counted lies together: both lowest_bits' counts, the sample, the counts of open
  // entries.
  std::byte* cleared = nullptr;
  std::size_t cleared_bytes = 0;
};
enum class VectorUse { measured, any_data, exact };  // statistics and scales alone; what any data may need; ...
DeviceVectorBuffers carve_device_vectors(Arena& arena, const ProductShape& shape, VectorUse use = VectorUse::any_data);

// Where bound is set, irregular products take scales and moduli from the product of |A| and |B|: so many moduli at
// most, or they go natively, or are planned again without it where that is not allowed. Where no host waits: those of
// plan_device_route(), or the conventional product.
struct DeviceProductPlan : CommonPlan {
  GpuModel gpu;
  bool residues = false;      // else the native product
  bool by_sqrt_rule = false;  // by sqrt_rule(): data that it leaves irregular are planned again without it
  DeviceLimits limits;
  ScalingRule contract_rule;  // the same as rule where the plan is not square-root
  int most_bound_moduli = 0;
  std::size_t bound_bytes = 0;  // of that product
  // Where set, residues may be made beside the statistics, by guess_rule() and so many moduli, before a part of that
  // product tells whether their scales serve.
  int least_guess = 0, most_guess = 0;
  int guesses() const { return least_guess == 0 ? 0 : most_guess - least_guess + cuda::guess_shares; }
  bool may_balance() const { return !single_precision && bound && bound->rms != 0; }
  int balanced_guesses() const {  // numbers behind most_guesses; long products fail such trials, which cost them a read
    if (!may_balance() || least_guess == 0 || shape.k > longest_resident_k) return 0;
    return std::min(cuda::balanced_guesses, most_guess - least_guess + 1);
  }
  // Vectors that no kernel balances while it measures them: of copies everything may be made (theorem 12).
  bool may_copy_balanced() const { return may_balance() && shape.k > longest_resident_k; }
  bool may_guess(int number) const {
    return cuda::is_balanced(number) ? number <= cuda::most_guesses + balanced_guesses()
                                     : number > 0 && number <= guesses();
  }
  DeviceBlocking ordinary;
  int part = 0;            // of a larger product, of which the same is remembered apart
  bool symmetric = false;  // op(B) is thought to be op(A) transposed: half of the products
};

struct DeviceRequest {
  Contract contract;
  GpuModel gpu = {};
  std::string engine;               // "" chooses
  std::string int8_engine;          // the one that would run
  DeviceLimits limits;              // of that one
  std::size_t workspace_limit = 0;  // bytes that may be used
  bool own_workspace = false;       // workspace_limit bytes are the caller's
  bool may_use_sqrt_rule = false;   // false: that and the product of |A| and |B| were tried, or are not wanted
  bool asynchronous = false;        // no host waits for what the data ask for: plan_device_route()
  int strassen_levels = -1;         // 0, 1, or -1 for the faster
};

// Is the native product taken because it ends before residues would begin, if no engine is named? Cheap to ask, for
// such products are over soon; and what their plan says.
template <class T>
bool device_product_is_small(const ProductShape& shape, const Contract& contract, const GpuModel& gpu = {});
template <class T>
void describe_small_device_product(const ProductShape& shape, const Contract& contract, Plan& plan);

// Is the native product taken by estimate, and not because it was asked for? The plan then asks neither for limits nor
// for a workspace.
template <class T>
bool device_takes_native(const ProductShape& shape, const DeviceRequest& request);

template <class T>
DeviceProductPlan plan_device_product(const ProductShape& shape, const DeviceRequest& request);

// Workspace that lets a product run whole, but no more than limit; or the least that serves any data.
template <class T>
std::size_t device_workspace_bytes(const ProductShape& shape, const Contract& contract, const DeviceLimits& limits,
                                   std::size_t limit, bool least, int strassen_levels = -1);

// What the library itself takes for data of any exponents, by the request's limit; 0 where the product goes natively.
template <class T>
std::size_t device_full_workspace_bytes(const ProductShape& shape, const DeviceRequest& request);

// One sweep over C for the entries that share a number of moduli.
struct DevicePass {
  DeviceBlocking blocking = {};
  int words = 2;         // of a scaled element
  bool ordinary = true;  // which entries are written ...
  bool every_entry = true;
};

using DevicePassList = PassesOf<DevicePass>;

// A complex product of m x n x k whole, by two products modulo each of `moduli` moduli with a root of -1
// (residue/convert/complex_root.hpp).
struct DeviceComplexPlan {
  ProductShape shape;
  Sides<bool> turn;     // an operand is copied so that its vectors are contiguous
  bool keep_t = false;  // the product is kept, since alpha or beta is not real or not known
  ScalingRule rule;
  int words = 2, moduli = 0;
  std::size_t bytes = 0;  // of the buffers
  double seconds = 0;     // as estimated
};

template <class R>
struct DeviceComplexBuffers {
  DeviceVectorBuffers vectors;
  int* row_scales = nullptr;  // of the 2m rows of the real product
  Sides<R*> turned;
  R* t = nullptr;
  R* real_rows = nullptr;            // of RealRows, in memory of the residues
  Sides<std::uint8_t*> parts;        // the residues of real and imaginary parts
  Sides<std::uint8_t*> plus, minus;  // residue/convert/complex_root.hpp
  std::int8_t *c_plus = nullptr, *c_minus = nullptr, *c = nullptr;
  std::size_t c_bytes = 0;
  std::uint32_t* steps = nullptr;  // of products that keep pace
};
template <class R>
DeviceComplexBuffers<R> carve_device_complex(Arena& arena, const DeviceComplexPlan& plan);

// None where the moduli with a root are too few or too many for the recombination, or k is too long.
template <class R>
std::optional<DeviceComplexPlan> plan_device_complex(const ProductShape& shape, Op opa, Op opb, bool keep_t,
                                                     const Contract& contract, const DeviceLimits& limits);

// Of the scaled elements of ordinary vectors: none has an exponent above log2 of its vector's norm.
int ordinary_words(const ScalingRule& rule);

DevicePass ordinary_device_pass(const DeviceProductPlan& plan);
// May such a pass be one of Strassen-Winograd, as ordinary products of the plan are?
bool strassen_serves(const DeviceProductPlan& plan, int moduli, int words);
// Scales by the norms of vectors alone, as much as so many moduli hold (theorem 3).
ScalingRule guess_rule(const DeviceProductPlan& plan, int moduli);
DevicePass guessed_device_pass(const DeviceProductPlan& plan, int moduli);
// In whole passes, beside the product of |A| and |B|.
bool guess_fits(const DeviceProductPlan& plan, const DevicePass& pass);
// Statistics of long vectors are a read of their own: then a guess has no residues before it is judged.
constexpr bool guess_awaits_judge(const ProductShape& shape) { return shape.k > longest_resident_k; }
int guess_k_step(const DeviceProductPlan& plan, int moduli);  // bound_k_step
double guess_seconds(const DeviceProductPlan& plan, const DevicePass& pass);
// Of guesses from number `next` on, the first, if it is faster than what it saves: a pass of `bound` moduli by the
// right scales, or for 0 the native product. 0: none.
int guess_worth_making(const DeviceProductPlan& plan, int next, int bound, double share = 1);
DevicePass own_exact_pass(const DeviceProductPlan& plan, const ExactChoice& choice);  // contract exact
// Irregular products are faster than estimates beside cuBLAS: by 16 moduli 1.87 for 2.07 ms at n = 4096, 14.8 for 15.5
// at 8192 (bench/results/real_data_h200.json).
inline constexpr double of_bound_estimate = 0.97;
// Of the passes of so many moduli that such a product may take, the faster one. share: of all operations, those whose
// pieces of operands hold something (engine/filled_pieces.hpp).
double bound_pass_seconds(const DeviceProductPlan& plan, int moduli, double share = 1);
// Where zeros leave little to multiply, more moduli than most_bound_moduli may win; so many are tried, and are worth it
// or not.
int most_hollow_moduli(const DeviceProductPlan& plan);
bool bound_pass_wins(const DeviceProductPlan& plan, const DevicePass& pass, double share);
// One pass for all entries, once the product of |A| and |B| is known: elements have exponents up to `exponent`. Of
// hollow products zeros are left out where they can be, which sums of quarters do not.
DevicePass bound_device_pass(const DeviceProductPlan& plan, int moduli, int exponent, double share = 1);
constexpr bool is_hollow(double share) { return share < 0.9; }
// Do the products of such a pass leave out zeros?
bool knows_filled(const DeviceProductPlan& plan, const DevicePass& pass, double share);
// Is the native product faster, and allowed, whatever the scales turn out to be?
bool irregular_products_lose(const DeviceProductPlan& plan);
DevicePassList plan_device_passes(const DeviceProductPlan& plan, const Scaling& scaling);

// What the last product of the shape was like: the share of operations whose pieces hold something; moduli by scales
// from the product of |A| and |B|, or 0.
struct LastProduct {
  double share = 1;
  int moduli = 0;
};

// What is queued behind the first attempt where the device decides what irregular products need.
struct DeviceRoutePlan {
  bool bound = false;   // scales from the product of |A| and |B|, the same for all entries: no ordinary pass, no spans
  DevicePass ordinary;  // by the contract's own rule
  cuda::RouteClasses classes;
  DevicePass wide[cuda::most_route_classes];
  int usual = -1;       // the class that such data take mostly
  double share = 1;     // of operations that they leave
  bool spans = false;   // block spans may prove what vectors do not
  bool native = false;  // what is left takes the conventional product; else C is left as it is
};
DeviceRoutePlan plan_device_route(const DeviceProductPlan& plan, const LastProduct& last = {});
std::size_t device_route_bytes(const DeviceProductPlan& plan, std::size_t available);  // of its largest pass

}  // namespace vernier
