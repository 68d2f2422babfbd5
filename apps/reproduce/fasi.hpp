// The feature table of Fasi et al. (2021), of models and of hardware.
#pragma once

#include <vernier/model.hpp>

#include "reproduce/experiment.hpp"

namespace vernier::reproduce::fasi {

struct Subject {
  std::string name;
  const model::MatrixEngine* engine;
  int fraction_bits;  // that the paper found, or that the literature has; 0: not of that kind
};

// Features down, engines across; and whether each is as the paper says.
void feature_table(const std::vector<Subject>& subjects, Result& result, const std::function<void(double)>& progress);

}  // namespace vernier::reproduce::fasi
