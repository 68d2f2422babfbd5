// NVIDIA's libraries, found at run time, so that a program starts where there are none.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <initializer_list>
#include <string>
#include <string_view>
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

// Has the process loaded one file of that library, as libcublas.so.12 or libcublas-1a2b.so.12, and no other? What one
// has made is none of another's. Counted anew where something was loaded or closed since.
class OneCopy {
 public:
  explicit OneCopy(std::string_view stem) : stem_(stem) {}

  bool is_loaded() {
    struct Look {
      OneCopy& of;
      bool counting = false;
    } look{*this};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
          auto& [of, counting] = *static_cast<Look*>(data);
          if (!counting && of.loads_ == info->dlpi_adds && of.closes_ == info->dlpi_subs) return 1;
          if (!counting) of.copies_ = 0;
          counting = true;
          of.loads_ = info->dlpi_adds, of.closes_ = info->dlpi_subs;
          const std::string_view path = info->dlpi_name, file = path.substr(path.rfind('/') + 1);
          if (file.starts_with(of.stem_) && file.substr(of.stem_.size()).find_first_of(".-") == 0) ++of.copies_;
          return 0;
        },
        &look);
    return copies_ == 1;
  }

 private:
  std::string_view stem_;
  unsigned long long loads_ = 0, closes_ = 0;
  int copies_ = 0;
};

}  // namespace vernier::cuda
