// Launches of the kernels of split_operands().
#pragma once

#include "split/convert/convert.hpp"

namespace vernier::cuda {

// One kernel, where k is at most 1024 and all strips of eight vectors run at once. Not tf32, whose runs of eight would
// fill sectors by halves (n = 1024: 41 us in place of 35).
bool split_short_serves(const SplitJob& a, const SplitJob& b);
template <SplitForm Form>
void split_short(const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream);

// One kernel, where no vector that lies across memory is longer than 16384.
bool split_once_serves(const SplitJob& a, const SplitJob& b);
template <SplitForm Form>
void split_once(const SplitJob& a, SplitJob b, const SplitGate& gate, const DeferredSplit& later, cudaStream_t stream);

// Two kernels for any length. The first splits contiguous vectors; of the others it finds the largest elements, part by
// part, and clears the status. The second splits those.
template <SplitForm Form>
void survey(const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream);
template <SplitForm Form>
void split_across(const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream);

inline std::int64_t pieces(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

}  // namespace vernier::cuda
