// What a process says of its calls as it ends: on stderr and into the report, where the environment asks for them.
#pragma once

#include "record.hpp"

namespace vernier::interpose {

void tell(Record& record);

}  // namespace vernier::interpose
