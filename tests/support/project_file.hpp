// Files of the project that tests read.
#pragma once

#include <string>

namespace vernier::test {

// The path of a file, given from the project's folder: "tests/data/plans.txt".
std::string project_file(const std::string& name);

}  // namespace vernier::test
