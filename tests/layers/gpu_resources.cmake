cmake_minimum_required(VERSION 3.25)

# The kernels of a source that every GPU runs, for each architecture from the PTX that its driver takes: none spills
# registers. (Shared memory is held to what they have by assertions of the source.) -Dnvcc, -Dptxas, -Dsource, -Dflags, -Dkernels: how many.
# -Dscratch.
file(MAKE_DIRECTORY ${scratch})
string(REPLACE "|" ";" flags "${flags}")
foreach(ptx 80 90)
  execute_process(COMMAND ${nvcc} ${flags} -arch=compute_${ptx} -ptx ${source} -o ${scratch}/kernels_${ptx}.ptx
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(architecture 80 86 89 90 100 120)
  set(ptx 80)
  if(architecture GREATER_EQUAL 90)
    set(ptx 90)
  endif()
  execute_process(COMMAND ${ptxas} -arch=sm_${architecture} -v ${scratch}/kernels_${ptx}.ptx -o ${scratch}/kernels.cubin
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
