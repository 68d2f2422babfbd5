// What a process says of its calls as it ends: on stderr and into the report, where the environment asks for them.
#pragma once

#include "record.hpp"

namespace vernier::interpose {

void tell(Record& record, bool on_stderr);  // ... or `on_stderr` does

}  // namespace vernier::interpose
