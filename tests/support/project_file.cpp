#include "support/project_file.hpp"

namespace vernier::test {

std::string project_file(const std::string& name) { return VERNIER_SOURCE_FOLDER "/" + name; }

}  // namespace vernier::test
