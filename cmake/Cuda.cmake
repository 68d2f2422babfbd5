# Sets VERNIER_HAS_CUDA. The CUDA part is built when there is a compiler for it, and says so when not.
set(VERNIER_HAS_CUDA OFF)
option(VERNIER_CUDA "Build the CUDA part where there is a compiler for it" ON)
if(NOT VERNIER_CUDA)
  message(NOTICE "CUDA part: left out, VERNIER_CUDA is OFF")
  return()
endif()

include(CheckLanguage)
set(CMAKE_CUDA_ARCHITECTURES OFF)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(NOTICE "CUDA part: left out, there is no nvcc (put it on PATH or set CUDACXX)")
  return()
endif()

enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(VERNIER_HAS_CUDA ON)
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)  # which CMake 3.25 does not know
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
# What nvcc hands to the host compiler, launches for the most part; device code is optimised in any case.
string(REPLACE -O3 -O1 CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-fmad=false>"
                    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Xcudafe=--diag_suppress=20208>"  # constexpr serves the device too
                    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off,-Wall,-Wextra>")
option(VERNIER_GPU_QUICK "Compile device code fast, for machines that only check that it compiles" OFF)
if(VERNIER_GPU_QUICK)
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Ofc=max>")
endif()
# fmt 9 switches its constexpr off for nvcc, and then misses it.
add_compile_definitions("$<$<COMPILE_LANGUAGE:CUDA>:FMT_USE_CONSTEXPR=1>")
# What a source's kernels are compiled to: code of Hopper, or what the driver of any GPU from 8.0 on makes its code of,
# where no code of Hopper is beside it a second time with what GPUs from 9.0 on have: early starts, bulk copies. Of these
# two Hopper's code is made as well, in the same pass of the compiler.
set(VERNIER_HOPPER -gencode=arch=compute_90a,code=sm_90a)
set(VERNIER_ANY_GPU -gencode=arch=compute_80,code=compute_80)
set(VERNIER_LATER_GPU -gencode=arch=compute_90,code=compute_90)
set(VERNIER_HOPPER_AS_ANY -gencode=arch=compute_80,code=sm_90)
set(VERNIER_HOPPER_AS_LATER -gencode=arch=compute_90,code=sm_90)
message(NOTICE "CUDA part: built for sm_90a, compute_80 and compute_90 with ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}")
