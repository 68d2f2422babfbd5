// A kernel that writes where no memory is: its error stays with the context.
#pragma once

namespace vernier::test {

void run_stray_kernel();

}  // namespace vernier::test
