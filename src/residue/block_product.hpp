// The stages of one block of C over one block of k: conversion of A and B, products, recombination.
#pragma once

#include "product/progress.hpp"
#include "residue/pass_state.hpp"

namespace vernier {

struct BlockTask {
  Range rows, columns, ks;
  Sides<bool> convert{true, true};  // else their planes are in memory
  bool specials = false;            // A or B holds a NaN or an infinity

  // Products over later blocks of k are added to what the residue planes of C hold.
  bool accumulate() const { return ks.begin > 0; }
  bool completes(std::int64_t k) const { return ks.begin + ks.count == k; }
};

// Wall clock; adds up over blocks.
struct StageSeconds {
  double residues = 0, products = 0, recombine = 0;
};

// share: of the whole work that progress tells of.
template <class T>
void run_block(const PassState<T>& state, const BlockTask& task, StageSeconds& seconds, Progress& progress,
               const WorkShare& share);

extern template void run_block(const PassState<double>&, const BlockTask&, StageSeconds&, Progress&, const WorkShare&);
extern template void run_block(const PassState<float>&, const BlockTask&, StageSeconds&, Progress&, const WorkShare&);

}  // namespace vernier
