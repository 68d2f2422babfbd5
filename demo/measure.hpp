// The ways to multiply that the demonstration compares, and what each makes of C^T X C.
#pragma once

#include <vernier/vernier.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exact.hpp"
#include "matrix.hpp"

namespace demo {

struct Outcome {
  double seconds = 0;
  std::optional<vernier::Report> report;  // of vernier's products
};

struct Multiplier {
  std::string name;
  bool timed = true;  // several runs; else one, and no row in the table of times
  std::function<Outcome(vernier::Op opa, const Matrix& A, const Matrix& B, Matrix& T)> multiply;  // T = op(A) B
};

Multiplier vernier_multiplier(std::string name, const vernier::Options& options);
Multiplier openblas_fp64();
Multiplier openblas_fp32();  // matrices rounded to float before the clock starts, the result widened after it stops

struct ProductResult {
  double seconds = 0;  // median
  SampledError error;
  std::optional<vernier::Report> report;
};

// C^T X C in two products by one multiplier.
struct Transformation {
  std::string failure;          // the multiplier's refusal; nothing else is set then
  ProductResult first, second;  // X C and C^T (X C)
  Matrix half, full;            // X C and C^T X C
};

// One Transformation for each multiplier. After one run that warms up, the timed ones run `repeats` times in turn, the
// slow ones less often.
std::vector<Transformation> transform(const Matrix& X, const Matrix& C, const std::vector<Multiplier>& multipliers,
                                      int repeats);

double distance_from_identity(const Matrix& G);                // max |G - I|
double distance(const Matrix& G, const Matrix& H, int block);  // max |G - H| over the leading block x block
double largest_off_diagonal(const Matrix& G, int block);       // the same over |G_ij|, i /= j

}  // namespace demo
