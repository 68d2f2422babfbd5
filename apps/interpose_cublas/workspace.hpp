// The workspaces that the program gives its handles (cublasSetWorkspace).
#pragma once

#include <cstddef>

#include "cublas.hpp"

namespace vernier::interpose::cublas {

struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// None if the program has given none, or if several threads have called for products of size with this handle since:
// a product that is being queued in one must not meet another's in the same memory.
Workspace workspace_of(Handle handle);

}  // namespace vernier::interpose::cublas
