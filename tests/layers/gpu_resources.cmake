cmake_minimum_required(VERSION 3.25)

# The kernels of a source that every GPU runs, for each architecture from the PTX that its driver takes: none spills
# registers, and no shared memory is beyond what a block may have without asking (what launches ask for is held to what
# architectures have by assertions of the source). -Dnvcc, -Dptxas, -Dsource, -Dflags, -Dscratch. -Dkernels: how many.
# -Dnot_on_120: those that it leaves to others, for its shared memory. -Dcuobjdump: asked about the binaries, if it is
# there.
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
  string(REGEX MATCHALL "entry function '[^']+'[^']+'[^']+'[^']*Function properties[^,]+, [0-9]+ bytes spill stores" found
         "${words}${more}")
  string(REGEX MATCHALL "Used [0-9]+ registers" registers "${words}${more}")
  list(LENGTH registers count)
  list(LENGTH found functions)
  if(NOT count EQUAL kernels OR NOT functions EQUAL kernels)
    message(SEND_ERROR "sm_${architecture}: ${count} and ${functions} kernels; expected ${kernels}")
  endif()
  foreach(function ${found})
    set(left "${not_on_${architecture}}")
    if(function MATCHES "[^0-9]0 bytes spill stores" OR (left AND function MATCHES "${left}"))
      continue()
    endif()
    message(SEND_ERROR "sm_${architecture}: ${function}; expected none")
  endforeach()
  message(STATUS "sm_${architecture}: ${registers}")
  if(NOT cuobjdump)
    continue()
  endif()
  execute_process(COMMAND ${cuobjdump} --dump-resource-usage ${scratch}/kernels.cubin OUTPUT_VARIABLE dump
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "REG:[0-9]+" in_binary "${dump}")
  list(TRANSFORM registers REPLACE "Used ([0-9]+) registers" "REG:\\1")
  list(SORT in_binary)
  list(SORT registers)
  string(REGEX MATCHALL "SHARED:[0-9]+" shared "${dump}")
  list(TRANSFORM shared REPLACE "SHARED:" "")
  list(SORT shared COMPARE NATURAL ORDER DESCENDING)
  list(GET shared 0 most)
  if(NOT in_binary STREQUAL registers OR most GREATER 49152)
    message(SEND_ERROR "sm_${architecture}, by cuobjdump: ${in_binary}, ${most} bytes shared; expected ${registers}")
  endif()
endforeach()
