// In place of cuda/pace.cuh: blocks run one after another, so none waits.
#pragma once

#include "cuda/pace.hpp"

namespace vernier::cuda {

struct Pacer {
  explicit Pacer(const Pace& /*pace*/) {}
  void before(int /*i*/) {}
  void end() const {}
};

}  // namespace vernier::cuda
