// One distributed product by residues: scan, elements, PBLAS over them, finish.
#pragma once

#include <functional>
#include <string>

#include "journal.hpp"
#include "matrix.hpp"

namespace vernier::interpose {

// C = alpha op(A) op(B) + beta C
struct DistributedCall {
  vernier_type type;
  char opa, opb;
  int m, n, k;
  const void *alpha, *beta;
  const SubMatrix *a, *b, *c;
  vernier_part a_part, b_part, c_part;  // local entries; allocate() may set them
  bool sound = true;                    // false: a local array here is too short, which all processes must hear of
  char triangle = 0;                    // U or L: a triangular operand has no entries beyond
  bool triangle_is_b = false;           // it is B, else A
  char c_triangle = 0;                  // U or L: of C only that triangle is wanted
  // May C be lost if another process fails? Not where beta or an operand needs it.
  bool c_is_ours = false;
  // Before the product, on every process: memory of this one (false: there is none), then what takes all of them.
  std::function<bool()> allocate = {};
  std::function<void()> arrange = {};
};

std::size_t element_size(vernier_type type);

// Nothing where C is complete; else why it is untouched, the same on every process of the grid. message: of this one.
struct Outcome {
  bool done = false;
  Reason reason = Reason::other;
  std::string message = {};
};
Outcome multiply_distributed(const Grid& grid, const DistributedCall& call);

}  // namespace vernier::interpose
