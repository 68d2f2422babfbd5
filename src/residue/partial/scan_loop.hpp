// The loops of scan_loops.hpp, as a compiler makes vectors of them.
#pragma once

#include "product/statistics/vector_loop.hpp"
#include "residue/partial/scan_loops.hpp"

namespace vernier {
namespace {

template <class R>
void ranges(const Operand<R>& x, std::int64_t first, std::int64_t count, MagnitudeRange<R>* out) {
  if (x.k_contiguous) {
    for (std::int64_t v = 0; v < count; ++v) out[v] = range_of_contiguous(x.at(first + v, 0), x.k);
    return;
  }
  RangesOfLines<R> lines;
  for (std::int64_t l = 0; l < x.k; ++l) lines.add(x.at(first, l), count);
  for (std::int64_t v = 0; v < count; ++v) out[v] = lines[v];
}

template <class R>
void scan_sums(const Operand<R>& x, std::int64_t first, std::int64_t count, const int* exponents, VectorSums* out) {
  if (x.k_contiguous) {
    for (std::int64_t v = 0; v < count; ++v) out[v] = sums_of_contiguous(x.at(first + v, 0), x.k, exponents[v]);
    return;
  }
  SumsOfLines<R> lines;
  for (std::int64_t v = 0; v < count; ++v) lines.set_exponent(v, exponents[v]);
  for (std::int64_t l = 0; l < x.k; ++l) lines.add(x.at(first, l), count);
  for (std::int64_t v = 0; v < count; ++v) out[v] = lines[v];
}

}  // namespace
}  // namespace vernier

// Instantiates them for one set of instructions.
#define VERNIER_SCAN_LOOPS_OF(set)                                                                            \
  namespace vernier {                                                                                         \
  template <class R>                                                                                          \
  void ranges_##set(const Operand<R>& x, std::int64_t first, std::int64_t count, MagnitudeRange<R>* out) {    \
    ranges(x, first, count, out);                                                                             \
  }                                                                                                           \
  template <class R>                                                                                          \
  void scan_sums_##set(const Operand<R>& x, std::int64_t first, std::int64_t count, const int* exponents,     \
                       VectorSums* out) {                                                                     \
    scan_sums(x, first, count, exponents, out);                                                               \
  }                                                                                                           \
  template void ranges_##set(const Operand<double>&, std::int64_t, std::int64_t, MagnitudeRange<double>*);    \
  template void ranges_##set(const Operand<float>&, std::int64_t, std::int64_t, MagnitudeRange<float>*);      \
  template void scan_sums_##set(const Operand<double>&, std::int64_t, std::int64_t, const int*, VectorSums*); \
  template void scan_sums_##set(const Operand<float>&, std::int64_t, std::int64_t, const int*, VectorSums*);  \
  }
