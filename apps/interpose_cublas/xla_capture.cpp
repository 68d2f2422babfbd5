#include "xla_capture.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstring>
#include <initializer_list>

#include "original.hpp"

namespace vernier::interpose::cublas {
namespace {

int is_of_xla(dl_phdr_info* info, std::size_t, void*) {
  for (const char* name : {"xla_cuda_plugin", "xla_extension", "libtensorflow"})
    if (info->dlpi_name != nullptr && std::strstr(info->dlpi_name, name) != nullptr) return 1;
  return 0;
}

using IsCapturing = int (*)(void* stream, int* status);

// The driver's, which every program that uses a GPU has loaded.
IsCapturing is_capturing() {
  static const IsCapturing once = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    return reinterpret_cast<IsCapturing>(driver != nullptr ? look_up(driver, "cuStreamIsCapturing") : nullptr);
  }();
  return once;
}

}  // namespace

// Captures are rare, so that the libraries, to which XLA may be added at any time, are looked through at each.
bool is_captured_by_xla(void* stream) {
  int status = 0;
  return is_capturing() != nullptr && is_capturing()(stream, &status) == 0 && status != 0 &&
         dl_iterate_phdr(is_of_xla, nullptr) != 0;
}

}  // namespace vernier::interpose::cublas
