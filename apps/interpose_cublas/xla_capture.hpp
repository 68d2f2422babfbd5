// XLA captures each product of a command buffer by itself, makes it part of a larger graph, which must have no memory
// nodes, and captures it anew when addresses change, which must give the same nodes.
#pragma once

namespace vernier::interpose::cublas {

bool is_captured_by_xla(void* stream);

// JAX looks this up in XLA's plugin before it reads XLA_FLAGS.
inline constexpr const char* entry_of_xla = "GetPjrtApi";

// Adds to XLA_FLAGS that products are left out of command buffers, unless the program or its user has said what is in
// them, or all calls of cuBLAS are passed on.
void keep_products_out_of_command_buffers();

}  // namespace vernier::interpose::cublas
