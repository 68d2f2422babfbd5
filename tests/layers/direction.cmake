cmake_minimum_required(VERSION 3.25)

# A room can include its own headers and those of the rooms that it stands on; no other header is found.
set(number_may number vernier)
set(base_may number vernier base)
set(cuda_may number vernier base cuda)
set(model_may number vernier base cuda model)
set(engine_may ${model_may} engine)
set(product_may ${engine_may} product)
foreach(method residue split slice bf16x6 offload)  # which never see each other
  set(${method}_may ${product_may} ${method})
endforeach()
set(blas_may ${product_may} residue split slice bf16x6 offload blas)
set(lapack_may ${blas_may} lapack)
set(program_may vernier)  # the public headers alone

string(REPLACE "|" ";" layers "${layers}")  # cuda is among them where it was built
foreach(user ${layers} program)
  string(REGEX REPLACE "([^|]+)\\|?" "-I;\\1;" folders "${folders_of_${user}}")
  set(probe "")
  foreach(layer ${layers} vernier)
    file(GLOB headers RELATIVE ${source}/src ${source}/src/${layer}/*.hpp)
    if(layer STREQUAL "vernier")
      set(headers vernier/vernier.hpp)
    elseif(NOT headers)
      message(SEND_ERROR "src/${layer} has no header to try")
      continue()
    endif()
    list(GET headers 0 header)
    if(layer IN_LIST ${user}_may)
      string(APPEND probe "#if !__has_include(\"${header}\")\n#error ${user} cannot include ${header}\n#endif\n")
    else()
      string(APPEND probe "#if __has_include(\"${header}\")\n"
                          "#error ${user} can include ${header}, against the direction of the layers\n#endif\n")
    endif()
  endforeach()
  file(WRITE ${scratch}/${user}.cpp "${probe}")
  execute_process(COMMAND ${compiler} -std=c++20 -E ${folders} ${scratch}/${user}.cpp
                  RESULT_VARIABLE failed ERROR_VARIABLE errors OUTPUT_QUIET)
  if(failed)
    message(SEND_ERROR "${errors}")
  endif()
endforeach()

# The way around: a path relative to the including file.
set(folders ${source}/src ${source}/apps ${source}/bench ${source}/demo)
list(TRANSFORM folders APPEND /*.[ch]pp)
file(GLOB_RECURSE sources ${folders})
foreach(file ${sources})
  file(STRINGS ${file} includes REGEX "#include [\"<](\\.|src/|/)")
  if(includes)
    message(SEND_ERROR "${file}: ${includes}: include as \"<folder>/<file>.hpp\"")
  endif()
endforeach()
