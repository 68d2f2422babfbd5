#include "native.hpp"

#include <dlfcn.h>
#include <omp.h>
#include <sched.h>

#include <fstream>
#include <vector>

namespace vernier::cli {
bool set_native_threads(int threads) {
  if (threads == 0) return true;
  for (const char* name : {"openblas_set_num_threads", "MKL_Set_Num_Threads"}) {
    if (void* symbol = dlsym(RTLD_DEFAULT, name)) {
      reinterpret_cast<void (*)(int)>(symbol)(threads);
      return true;
    }
  }
  return false;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos)
      return line.substr(line.find_first_not_of(" \t", colon + 1));
  }
  return "unknown";
}

void pin_threads(int threads) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  std::vector<int> processors;
  for (int p = 0; p < CPU_SETSIZE; ++p) {
    if (CPU_ISSET(p, &allowed)) processors.push_back(p);
  }
#pragma omp parallel num_threads(threads)
  {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(processors[static_cast<std::size_t>(omp_get_thread_num()) % processors.size()], &own);
    sched_setaffinity(0, sizeof own, &own);
  }
}

}  // namespace vernier::cli
