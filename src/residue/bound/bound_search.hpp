// Scales from a product of |A| and |B| in low precision (residue/bound/bound_scales.hpp): on bf16 tiles where the
// machine has them, else in float by the BLAS underneath.
#pragma once

#include <mutex>
#include <optional>

#include "base/workspace.hpp"
#include "engine/bound/bound_engine.hpp"
#include "product/operand.hpp"
#include "residue/bound/bound_operand.hpp"
#include "residue/bound/bound_sample_host.hpp"
#include "residue/bound/bound_scales.hpp"
#include "residue/gemm.hpp"
#include "residue/plan/plan.hpp"

namespace vernier {

// Blocks of C, of the k of floats too; tiles take whole k.
struct BoundBlocking {
  ProductShape shape;
  int threads = 1;
  bool tiles = false;  // operands in tiles of bf16; else floats
  bool codes = false;  // a byte for each entry of C
  std::int64_t m_block = 0, n_block = 0, k_block = 0;
  std::size_t bytes = 0;

  bool whole() const { return m_block >= shape.m && n_block >= shape.n; }
};

// Within the limit: without bytes for the entries, or in floats where tiles are asked for, if it takes that. codes: are
// these bytes wanted?
BoundBlocking choose_bound_blocking(const ProductShape& shape, int threads, bool tiles, std::size_t limit,
                                    bool codes = true);

struct BoundBuffers {
  std::byte *a = nullptr, *b = nullptr;  // operands of a block
  Sides<FilledSteps*> filled;            // of each strip of tiles
  float* s = nullptr;                    // a block of C; of tiles 16 x 32 x 32 a thread
  float* minima = nullptr;               // of a block's columns, one set a thread
  std::uint8_t* codes = nullptr;         // of C, columns m bytes apart; null: none
};
BoundBuffers carve_bound(Arena& arena, const BoundBlocking& blocking);

// What such a product of k terms promises: on tiles, else in float.
BoundProduct bound_product(std::int64_t k, bool tiles);

template <class T>
class BoundSearch {
 public:
  // tiles: null if the blocking has none. The arena has its bytes free. sample: of the operands, made if it is asked
  // for and not there. skip: the product has a part of k (BoundPart).
  BoundSearch(const ResiduePlan& plan, const ResidueProblem<T>& problem, const VectorBuffers& vectors,
              const BoundBlocking& blocking, const BoundTiles* tiles, Arena arena, std::optional<BoundSample>& sample,
              std::int64_t skip = 1)
      : plan_(plan),
        problem_(problem),
        vectors_(vectors),
        blocking_(blocking),
        tiles_(tiles),
        sample_(sample),
        skip_(skip),
        rule_(*plan.bound),
        product_(bound_product(plan.shape.k, blocking.tiles)),
        buffers_(carve_bound(arena, blocking)) {}

  // From the statistics of all vectors to their scales, the same for all entries.
  Scaling scale() const;

  // The ordinary scales for all entries if these serve, by a part of k and a sample; or else scales by norms of so few
  // moduli more, up to `most`, that they serve; or none.
  std::optional<Scaling> scale_by_norms(int most);

  // The product, up to the minima of all vectors and the bytes of the entries.
  void measure() const;

 private:
  const BoundRule& rule() const { return rule_; }
  std::int64_t k() const { return bound_k(plan_.shape.k, skip_); }
  // Of |A||B| what lies on and above the diagonal, by groups of rows: it is symmetric.
  bool takes_half() const { return blocking_.tiles && problem_.symmetric && blocking_.whole(); }
  const BoundSample& sample() const;
  void weigh(const VectorStatistics* statistics, std::int64_t count, const BoundVectors& out) const;
  BoundPart<T> part(const Operand<T>& x, const VectorStatistics* statistics, Range vectors, Range ks) const;
  BoundBlock block(Range rows, Range columns) const;
  void multiply_floats(Range rows, Range columns) const;
  void multiply_tiles(Range rows, Range columns) const;
  template <class Take>
  void take_row_groups(Range rows, Range columns, std::int64_t group, const Take& take) const;
  void set_exponents(const VectorStatistics* statistics, std::int64_t count, const BoundVectors& minima, int slack,
                     int spare, VectorProof* out) const;
  BoundSampleSteps sampled_steps(int side, const VectorStatistics* statistics, std::int64_t count,
                                 const BoundVectors& bounds) const;
  int slack() const;
  double largest_entry() const;

  const ResiduePlan& plan_;
  const ResidueProblem<T>& problem_;
  const VectorBuffers& vectors_;
  const BoundBlocking blocking_;
  const BoundTiles* tiles_;
  std::optional<BoundSample>& sample_;
  const std::int64_t skip_;
  BoundRule rule_;
  const BoundProduct product_;
  const BoundBuffers buffers_;
  mutable std::mutex minima_mutex_;  // shared_result.hpp: no critical section
};

}  // namespace vernier
