// XLA captures each product of a command buffer by itself, makes it part of a larger graph, which must have no memory
// nodes, and captures it anew when addresses change, which must give the same nodes.
#pragma once

namespace vernier::interpose::cublas {

bool is_captured_by_xla(void* stream);

}  // namespace vernier::interpose::cublas
