// Operands of quadruple products: vectors whose elements are sums of one to three doubles.
#pragma once

#include <cstdint>

#include "product/operand.hpp"
#include "residue/exact/exact.hpp"
#include "residue/quad/dd_tile.hpp"
#include "residue/quad/quad_scale.hpp"
#include "vernier/quad.hpp"

namespace vernier {

template <class T>
inline constexpr int parts_of_element = sizeof(T) / 8;  // double, dd
#if defined(__SIZEOF_FLOAT128__)
template <>
inline constexpr int parts_of_element<binary128> = 3;
#endif

// Some vectors of an operand over some k, as doubles: part p of element (vector, l) is part[p].at(vector, l).
struct PartStrip {
  int parts = 0;
  Operand<double> part[most_parts];

  // Elements begin .. begin + count - 1 of the vectors.
  PartStrip slice(std::int64_t begin, std::int64_t count) const {
    PartStrip s = *this;
    for (int p = 0; p < parts; ++p) s.part[p].data = part[p].at(0, begin), s.part[p].k = count;
    return s;
  }
};

// Doubles of a strip's parts: vectors that lie along k are a line more than its elements apart, so that not all begin
// in the same set of a cache.
constexpr std::int64_t part_length(std::int64_t k) { return strip_size * (k + 8); }

class QuadOperand {
 public:
  virtual ~QuadOperand() = default;
  virtual int parts() const = 0;
  // Vectors first .. first + count - 1, at most 32, over all of k: shift and span of each.
  virtual void find_shifts(std::int64_t first, std::int64_t count, QuadVector* out) const = 0;
  // shifts: of the 32 vectors; buffer: part_length(k_count) doubles for each part
  virtual PartStrip strip(std::int64_t first, std::int64_t k_begin, std::int64_t k_count, const QuadVector* shifts,
                          const DdLoops& loops, double* buffer) const = 0;
  // A range of k of one vector, parts[p][l].
  virtual void vector(std::int64_t index, int shift, Range ks, double* const* parts) const = 0;

  std::int64_t vectors = 0, k = 0;
};

template <class T>
class QuadOperandOf final : public QuadOperand {
 public:
  explicit QuadOperandOf(const Operand<T>& x) : x_(x) { vectors = x.vectors, k = x.k; }
  int parts() const override { return parts_of_element<T>; }
  void find_shifts(std::int64_t first, std::int64_t count, QuadVector* out) const override;
  PartStrip strip(std::int64_t first, std::int64_t k_begin, std::int64_t k_count, const QuadVector* shifts,
                  const DdLoops& loops, double* buffer) const override;
  void vector(std::int64_t index, int shift, Range ks, double* const* parts) const override;

 private:
  Operand<T> x_;
};

}  // namespace vernier
