// A cuBLAS handle of the program's own, which it may lend.
#pragma once

#include <cublas_v2.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "cuda/shared_library.hpp"

namespace vernier::test {

class ProgramCublas {
 public:
  ProgramCublas() {
    const decltype(&cublasCreate_v2) create = library.find("cublasCreate_v2");
    if (create(&handle) != CUBLAS_STATUS_SUCCESS) throw std::runtime_error("cublasCreate");
  }
  ~ProgramCublas() {
    const decltype(&cublasDestroy_v2) destroy = library.find("cublasDestroy_v2");
    EXPECT_EQ(destroy(handle), CUBLAS_STATUS_SUCCESS);
  }
  ProgramCublas(const ProgramCublas&) = delete;
  ProgramCublas& operator=(const ProgramCublas&) = delete;

  cuda::SharedLibrary library{"libcublas", "cuBLAS"};
  cublasHandle_t handle = nullptr;
};

}  // namespace vernier::test
