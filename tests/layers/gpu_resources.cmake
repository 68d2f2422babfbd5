cmake_minimum_required(VERSION 3.25)

# The kernels of a source that every GPU runs, for each architecture from one PTX: none spills registers. (Shared memory
# is held to the least of them by assertions of the source.) -Dnvcc, -Dptxas, -Dsource, -Dflags, -Dkernels: how many.
# -Dscratch.
file(MAKE_DIRECTORY ${scratch})
string(REPLACE "|" ";" flags "${flags}")
execute_process(COMMAND ${nvcc} ${flags} -arch=compute_80 -ptx ${source} -o ${scratch}/kernels.ptx
                COMMAND_ERROR_IS_FATAL ANY)
foreach(architecture 80 86 89 90 100 120)
  execute_process(COMMAND ${ptxas} -arch=sm_${architecture} -v ${scratch}/kernels.ptx -o ${scratch}/kernels.cubin
                  ERROR_VARIABLE words OUTPUT_VARIABLE more COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[0-9]+ bytes spill stores" spills "${words}${more}")
  string(REGEX MATCHALL "Used [0-9]+ registers" registers "${words}${more}")
  list(LENGTH registers count)
  if(NOT count EQUAL kernels)
    message(SEND_ERROR "sm_${architecture}: ${count} kernels; expected ${kernels}")
  endif()
  foreach(spill ${spills})
    if(NOT spill STREQUAL "0 bytes spill stores")
      message(SEND_ERROR "sm_${architecture}: ${spill}; expected none")
    endif()
  endforeach()
  message(STATUS "sm_${architecture}: ${registers}")
endforeach()
