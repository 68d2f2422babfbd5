// NVIDIA's libraries, found at run time, so that a program starts where there are none.
#pragma once

#include <dlfcn.h>

#include <string>
#include <utility>

namespace vernier::cuda {

// The newest of <stem>.so.13, .12, .11 that the loader finds. A copy that the process has loaded comes first: two in
// one process would each hold workspaces and contexts' state. Stays loaded for good.
class SharedLibrary {
 public:
  SharedLibrary(const std::string& stem, std::string name) : name_(std::move(name)) {
    for (const int mode : {RTLD_LAZY | RTLD_NOLOAD, RTLD_LAZY})
      for (const char* version : {".so.13", ".so.12", ".so.11"})
        if (handle_ == nullptr) handle_ = dlopen((stem + version).c_str(), mode);
    if (handle_ == nullptr) missing_ = "no " + name_ + ": the loader finds none of " + stem + ".so.13, .12, .11";
  }

  // function: a pointer of the type of the symbol, which the header may know by another name.
  template <class F>
  void find(const char* symbol, F& function) {
    if (handle_ == nullptr) return;
    function = reinterpret_cast<F>(dlsym(handle_, symbol));
    if (function == nullptr && missing_.empty())
      missing_ = "this " + name_ + " has no " + symbol + "; expected CUDA 12.0 or later";
  }

  const std::string& missing() const { return missing_; }  // why not all was found, or ""

 private:
  std::string name_, missing_;
  void* handle_ = nullptr;
};

}  // namespace vernier::cuda
