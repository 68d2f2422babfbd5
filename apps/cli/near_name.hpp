// Names that may have been meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vernier::cli {

// The nearest of the names, if few letters differ; else "".
std::string near_name(std::string_view word, const std::vector<std::string>& names);

// "; did you mean 'gemm'?", or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace vernier::cli
