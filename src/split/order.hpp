// The order of an error-corrected product, as plain data for host and device: what vernier/split.hpp's Scheme says of
// terms, sums and steps.
#pragma once

namespace vernier {

struct SplitOrder {
  static constexpr int max_terms = 9, max_sums = 5;

  struct Term {
    int a, b, sum;
    int from, length;  // in k, within the step
  };
  int terms = 0, sums = 0, step = 16;
  Term term[max_terms] = {};
  int run[max_sums] = {};    // 0: all of k
  int shift[max_sums] = {};  // ascending
  int carry[max_sums] = {};  // Carry: 1 fast, 2 exact
};

}  // namespace vernier
