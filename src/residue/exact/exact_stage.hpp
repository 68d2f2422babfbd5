// What contract `exact` adds to a product by residues: scales with bits to spare, a rounding test for every entry, and
// the entries that it leaves open.
#pragma once

#include <cstddef>
#include <cstdint>

#include "product/progress.hpp"
#include "residue/backend.hpp"
#include "residue/gemm.hpp"
#include "residue/plan/exact_choice.hpp"

namespace vernier {

// The residues of a block of C whose sums are complete: rows first_row .. first_row + rows - 1, and columns alike.
struct ResidueBlock {
  std::int64_t first_row = 0, rows = 0, first_column = 0, columns = 0;
  const std::int8_t* planes = nullptr;
  std::size_t plane_bytes = 0;

  std::int64_t row_strips() const { return divide_up(rows, strip_size); }
  std::int64_t column_strips() const { return divide_up(columns, strip_size); }
  const std::int8_t* tile(std::int64_t row_strip, std::int64_t column_strip) const {
    return planes + (column_strip * row_strips() + row_strip) * block_elements;
  }
};

template <class T>
class ExactStage {
 public:
  ExactStage(const ResiduePlan& plan, const ResidueProblem<T>& problem, const SchemeBackend<T>& backend,
             const VectorBuffers& vectors, Report& report)
      : plan_(plan), problem_(problem), backend_(backend), vectors_(vectors), report_(report) {}

  // One strip's vectors, all of k, at the scales of ordinary data. Thread-safe.
  void measure(const Operand<T>& view, const VectorStatistics* statistics, LowestBits* out) const;

  // After all strips are measured: how large the entries of C are. buffer: 32 * k_block doubles.
  void sample(double* buffer, std::int64_t k_block);

  // One scale a vector: that of ordinary data where its moduli serve these data well, else one made for them.
  Scaling scale();

  // Of the time of a pass, as scale() expects it.
  double settling_share() const { return settling_share_; }

  // Before a pass, whose scales are set.
  void begin_pass(bool ordinary);

  // One block of 32 x 32, starting at (i, j): what is decided goes to C. Thread-safe.
  void round(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes, std::int64_t i,
             std::int64_t j) const;

  // The entries that round() has left open in a block of C. scratch: 32 * k_block doubles a thread. share: of the whole
  // work that progress tells of.
  void complete_report(const RecombineTables& tables, const ResidueBlock& block, std::byte* scratch,
                       std::size_t scratch_stride, std::int64_t k_block, Progress& progress, const WorkShare& share);

 private:
  struct Counts {
    std::int64_t undecided = 0, accumulated = 0;
  };

  Rounding rounding() const { return plan_.printable.contract.rounding; }
  EntryMask& mask_at(std::int64_t row_strip, std::int64_t column_strip) const {
    return vectors_.undecided[column_strip * divide_up(plan_.shape.m, strip_size) + row_strip];
  }
  void count_inexact(const Operand<T>& x, const int* scales, LowestBits* lowest_bits) const;
  ErrorArrays errors_at(const double* errors, std::int64_t count, std::int64_t first) const;
  void set_errors(const VectorStatistics* statistics, const LowestBits* lowest_bits, const int* scales,
                  std::int64_t count, bool lengthen, double* errors) const;
  void special_entries(std::int64_t i, std::int64_t j, std::uint32_t rows, std::uint32_t columns) const;
  Counts decide_strip(const RecombineTables& tables, const ResidueBlock& block, std::int64_t strip, bool by_rows,
                      T* buffer, T* line, bool gather) const;
  bool decide_entry(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                    const VectorPair<T>& pair, std::int64_t i, std::int64_t j) const;
  void set_scales(const VectorStatistics* statistics, const LowestBits* lowest_bits, VectorProof* scales,
                  std::int64_t count, int budget_16, Scaling& result) const;

  const ResiduePlan& plan_;
  const ResidueProblem<T>& problem_;
  const SchemeBackend<T>& backend_;
  const VectorBuffers& vectors_;
  Report& report_;
  ExactQuestion question_;
  double settling_share_ = 0;
};

}  // namespace vernier
