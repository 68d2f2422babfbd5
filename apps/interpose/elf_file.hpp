// What an ELF file says about itself: enough to tell what a preload cannot reach.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace vernier::interpose {

enum class Linking { not_elf, static_only, dynamic };

// static_only: it names no loader, so that nothing can be preloaded.
Linking linking_of(const std::string& path);

// Does it define a function of one of these names, as far as its symbols are there?
bool defines_any(const std::string& path, std::initializer_list<const char*> names);

// Does this text stand in it, within the first 256 MiB?
bool holds(const std::string& path, std::string_view text);

}  // namespace vernier::interpose
