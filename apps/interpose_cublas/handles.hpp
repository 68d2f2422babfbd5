// Of a program with several versions of cuBLAS, each of whose modules is linked to one: handles of another than the one
// that calls are passed on to. Their calls go to their own, and none is taken.
#pragma once

#include "cublas.hpp"

namespace vernier::interpose::cublas {

bool is_of_another(const void* handle);
// The function of that name in the handle's own library; null if the handle is of the one underneath.
void* function_of_another(const void* handle, const char* name);
// One that was destroyed: its address may be given to a new one.
void forget_handle(const void* handle);

}  // namespace vernier::interpose::cublas
