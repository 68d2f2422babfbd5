// Machines that lack something, without a GPU: the linker's --wrap puts the functions below before those of the CUDA
// runtime and of the loader. What is missing is told before any work, in words that say what to do.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "vernier/cuda.hpp"
#include "vernier/slices.hpp"

namespace {

struct Machine {
  cudaError_t count_status = cudaSuccess;
  int major = 9, minor = 0, driver = 13000;
  bool has_cublas = false;
};
Machine machine;

}  // namespace

extern "C" {

cudaError_t __wrap_cudaGetDeviceCount(int* count) {
  *count = machine.count_status == cudaSuccess ? 1 : 0;
  return machine.count_status;
}
cudaError_t __wrap_cudaGetDevice(int* number) {
  *number = 0;
  return machine.count_status;
}
cudaError_t __wrap_cudaDriverGetVersion(int* version) {
  *version = machine.driver;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "Some GPU");
  properties->major = machine.major;
  properties->minor = machine.minor;
  properties->multiProcessorCount = 80;
  return cudaSuccess;
}
cudaError_t __wrap_cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 1000000;
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t __wrap_cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }

void* __real_dlopen(const char* name, int mode);
void* __wrap_dlopen(const char* name, int mode) {
  if (!machine.has_cublas && name != nullptr && std::strncmp(name, "libcublas", 9) == 0) return nullptr;
  return __real_dlopen(name, mode);
}
}

namespace vernier {
namespace {

// The message of a product of order 4; the operands are never read, since nothing may begin.
std::string message(const char* contract, const char* engine = "") {
  std::vector<double> c(16, 7.0);
  const double one = 1, zero = 0;
  cuda::Options options;
  options.contract = Contract::parse(contract);
  options.engine = engine;
  try {
    cuda::gemm<double>(Op::none, Op::none, 4, 4, 4, &one, c.data(), 4, c.data(), 4, &zero, c.data(), 4, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::unsupported) << error.what();
    EXPECT_EQ(c, std::vector<double>(16, 7.0));
    return error.what();
  }
  return "no error";
}

// Each in a process of its own: what a process has found of its machine it keeps.
void expect_message(const Machine& has, const char* contract, const char* engine, const char* words) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        machine = has;
        std::fprintf(stderr, "%s\n", message(contract, engine).c_str());
        std::exit(::testing::Test::HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), words);
}

TEST(UnfitMachine, WithoutADriverOrAGpuIsToldWhatItLacks) {
  expect_message({.count_status = cudaErrorInsufficientDriver, .driver = 0}, "fp64", "", "there is no NVIDIA driver");
  expect_message({.count_status = cudaErrorInsufficientDriver, .driver = 11040}, "fp64", "",
                 "the driver is made for CUDA 11.4; [0-9.]+ is needed");
  expect_message({.count_status = cudaErrorNoDevice}, "exact", "", "no CUDA device: ");
}

// Matrices of the host are multiplied on the CPU there, and the report says why.
TEST(UnfitMachine, WithoutADriverMultipliesMatricesOfTheHostOnTheCpu) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Machine machines[] = {{.count_status = cudaErrorInsufficientDriver, .driver = 0},
                              {.count_status = cudaErrorInsufficientDriver, .driver = 11040},
                              {.count_status = cudaErrorNoDevice}};
  const char* reasons[] = {"there is no NVIDIA driver", "the driver is made for CUDA 11.4; [0-9.]+ is needed",
                           "no CUDA device: "};
  for (int i = 0; i < 3; ++i)
    EXPECT_EXIT(
        {
          machine = machines[i];
          constexpr std::int64_t n = 100;
          const std::vector<double> a(n * n, 3.0);
          std::vector<double> c(n * n, 7.0);
          const Report made = gemm<double>(Op::none, Op::none, n, n, n, 1, a.data(), n, a.data(), n, 0, c.data(), n,
                                           {.device = Device::cuda});
          std::fprintf(stderr, "%s\n", made.plan.reason.c_str());
          std::exit(c == std::vector<double>(n * n, 900.0) ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), std::string("on the CPU: .*") + reasons[i]);
}

TEST(UnfitMachine, WithoutCublasIsToldWhichNamesTheLoaderTried) {
  expect_message({}, "fp64", "",
                 "no cuBLAS: the loader finds none of libcublas.so.13, .so.12, .so.11; expected one in a folder of "
                 "LD_LIBRARY_PATH");
  expect_message({}, "fp64+reproducible", "cublas_int8",
                 "engine \"cublas_int8\" does not run here: no cuBLAS: the loader finds none");
}

TEST(UnfitMachine, WithAGpuTooOldNamesItAndWhatRunsThere) {
  const Machine volta{.major = 7};
  for (const char* contract : {"fp64+reproducible", "exact", "bits(60)"})
    expect_message(
        volta, contract, "",
        "no int8 engine runs here: compute capability 8.0 or later is needed .Some GPU has 7.0.; contracts fp64");
  for (const char* engine : {"mma_int8", "cublas_int8"})
    expect_message(volta, "fp64+reproducible", engine,
                   "does not run here: compute capability 8.0 or later is needed .Some GPU has 7.0.");
  expect_message(volta, "fp64+reproducible", "sm90_int8", "does not run here: a GPU of compute capability 9.0");
}

}  // namespace
}  // namespace vernier
