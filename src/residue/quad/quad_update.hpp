// C = alpha T + beta C in dd or binary128. Host and device.
#pragma once

#include "product/exact/entry.hpp"
#include "residue/quad/dd_arithmetic.hpp"

namespace vernier {

struct QuadUpdate {
  double alpha, beta;
  bool only_rounded;  // beta = 0, alpha a power of two
};
inline QuadUpdate quad_update(double alpha, double beta) { return {alpha, beta, beta == 0 && is_power_of_two(alpha)}; }

#if defined(__SIZEOF_FLOAT128__) && !defined(__CUDACC__)
inline binary128 normalised(binary128 x) { return x; }
#endif

template <class TC>
VERNIER_HD void update_quad(const QuadUpdate& u, const TC& t, TC& c) {
  TC product = t;
  if (u.alpha != 1) product = t * u.alpha;
  c = u.beta == 0 ? product : product + normalised(c) * u.beta;
}

}  // namespace vernier
