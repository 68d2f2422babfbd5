// The steps of classical refinement, by whoever has the matrix and its factors.
#pragma once

#include <memory>
#include <vector>

#include "lapack/solve/system.hpp"

namespace vernier {

// The host's, columns n apart.
struct RefinementVectors {
  const double* b;
  double *x, *r;
};

// Vectors may be anywhere on the way: x and r are there after wait().
class Corrections {
 public:
  virtual ~Corrections() = default;
  // x = F^-1 b, r = b - op(A) x
  virtual void first(const Columns& columns) = 0;
  // r will hardly do: F^-1 r may begin, before anybody has seen r.
  virtual void expect_another(const Columns&) {}
  virtual void wait() {}
  // x += length F^-1 r, r = b - op(A) x
  virtual void add(const Columns& columns, const std::vector<double>& lengths) = 0;
};

class LuFactors;

// All of it on the host's vectors, at once.
std::unique_ptr<Corrections> host_corrections(const LinearSystem& system, const LuFactors& factors,
                                              const RefinementVectors& vectors);

}  // namespace vernier
