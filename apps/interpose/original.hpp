// The functions underneath: where calls go that are passed on.
#pragma once

namespace vernier::interpose {

// dlsym of the C library; the one that this preload shows to the program is for the program.
void* look_up(void* library, const char* name);

// May a call be passed on to that function? Not to one of this preload, nor to libblastrampoline, which only hands
// calls on and may hand them to us.
bool is_underneath(const void* function);

// The function of that name in the first library loaded that has it, also where it was loaded out of the global scope.
void* find_among_loaded(const char* name);
void* find_next(const char* name);  // the same for the global scope behind this preload

// Decided once for each name, by whichever comes first: a call, or the program's own dlsym. Null: there is none.
void* original(const char* name);

// What the program gets that has looked this name up in a library of its choice and found that function: ours, if calls
// of ours are passed on to that one, else null. One name in two libraries stays with the one that was first.
void* replacement(const char* name, void* found);

// A name of ours that no library loaded has: asked for, dlerror() says so.
bool is_absent_without_us(const char* name);

// Is this the code of libblastrampoline, Julia's switch between BLAS libraries?
bool is_of_trampoline(const void* code);

}  // namespace vernier::interpose
