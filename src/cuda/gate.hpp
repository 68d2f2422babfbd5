// A word in device memory that decides whether kernels run which are queued already: how later ones follow what earlier
// ones found out, without a word from the host.
#pragma once

#include "number/host_device.hpp"

namespace vernier {

// Open, so that the kernel runs, where there is no word or the word has that value; else it returns at once.
struct Gate {
  const int* word = nullptr;
  int value = 0;

  VERNIER_HD bool closed() const { return word != nullptr && *word != value; }
};

}  // namespace vernier
