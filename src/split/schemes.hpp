// The named schemes as rules for host and device.
#pragma once

#include "split/split.hpp"
#include "vernier/split.hpp"

namespace vernier {

SplitRule split_rule(const split::Scheme& scheme);

}  // namespace vernier
