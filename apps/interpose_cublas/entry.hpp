// What the entry points of this preload are written with.
#pragma once

#include "cublas_call.hpp"

#define VERNIER_ENTRY extern "C" __attribute__((visibility("default")))
#define VERNIER_SYMBOL VERNIER_ENTRY vernier::interpose::cublas::Status
#define VERNIER_STATE(NAME) static constinit vernier::interpose::Symbol symbol(#NAME)
