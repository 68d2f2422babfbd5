// NVIDIA's libraries, found at run time, so that a program starts where there are none.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace vernier::cuda {

// The first of the versions that the loader finds. A copy that the process has loaded comes first: two in
// one process would each hold workspaces and contexts' state. Stays loaded for good.
class SharedLibrary {
 public:
  SharedLibrary(const std::string& stem, std::string name,
                std::initializer_list<const char*> versions = {".so.13", ".so.12", ".so.11"})
      : name_(std::move(name)) {
    for (const int mode : {RTLD_LAZY | RTLD_NOLOAD, RTLD_LAZY})
      for (const char* version : versions)
        if (handle_ == nullptr) handle_ = dlopen((stem + version).c_str(), mode);
    if (handle_ != nullptr) return;
    std::string names;
    for (const char* version : versions) names += (names.empty() ? stem : ", ") + version;
    missing_ = "no " + name_ + ": the loader finds none of " + names + "; expected one in a folder of LD_LIBRARY_PATH";
  }

  // What a symbol stands for: becomes a pointer of the type that it is assigned to, which the header may know by
  // another name.
  struct Symbol {
    void* address = nullptr;

    template <class F>
    operator F*() const {
      return reinterpret_cast<F*>(address);
    }
  };

  Symbol find(const char* symbol) {
    if (handle_ == nullptr) return {};
    void* const address = look_up(handle_, symbol);
    if (address == nullptr && missing_.empty())
      missing_ = "this " + name_ + " has no " + symbol + "; expected CUDA 12.0 or later";
    return {address};
  }

  const std::string& missing() const { return missing_; }  // why not all was found, or ""

 private:
  // Of a preload that takes over what others look up, this library's own calls are none of its business.
  static void* look_up(void* library, const char* symbol) {
    static const auto underneath =
        reinterpret_cast<void* (*)(void*, const char*)>(dlsym(RTLD_DEFAULT, "vernier_underneath"));
    return underneath != nullptr ? underneath(library, symbol) : dlsym(library, symbol);
  }

  std::string name_, missing_;
  void* handle_ = nullptr;
};

}  // namespace vernier::cuda
