// Libraries that the program loads with RTLD_DEEPBIND.
#pragma once

namespace vernier::interpose {

bool any_bound_deeply();  // has there been one that keeps its own BLAS, if it has any?

}  // namespace vernier::interpose
