#include "xla_capture.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

#include "original.hpp"
#include "settings.hpp"

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

// XLA takes one type of command a flag, of which each counts: others that follow in a list are not looked at.
void keep_products_out_of_command_buffers() {
  const std::string given = variable("XLA_FLAGS");
  const std::size_t first = given.find_first_not_of(" \t\r\n");
  const bool names_a_file = first != std::string::npos && given[first] != '-';
  if (names_a_file || given.find("xla_gpu_enable_command_buffer") != std::string::npos ||
      variable("VERNIER_CUDA_ENGINE") == "native" || dl_iterate_phdr(is_of_xla, nullptr) == 0)
    return;
  const std::string flags =
      given + " --xla_gpu_enable_command_buffer=-CUBLAS --xla_gpu_enable_command_buffer=-CUBLASLT";
  setenv("XLA_FLAGS", flags.c_str() + (given.empty() ? 1 : 0), 1);
}

// Captures are rare, so that the libraries, to which XLA may be added at any time, are looked through at each.
bool is_captured_by_xla(void* stream) {
  int status = 0;
  return is_capturing() != nullptr && is_capturing()(stream, &status) == 0 && status != 0 &&
         dl_iterate_phdr(is_of_xla, nullptr) != 0;
}

}  // namespace vernier::interpose::cublas
