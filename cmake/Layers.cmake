option(VERNIER_UNITY "Compile the sources of a folder as one: half of the time from nothing, more after a change" OFF)

# vernier_layer(name [USES layer...] [LINKS library...] [ANY_GPU source...] [ALSO_ANY_GPU source...])
#
# Kernels run on Hopper, those of the sources ALSO_ANY_GPU on every GPU from compute capability 8.0 on too. Of ANY_GPU
# Hopper has no code of its own: it runs what the others do.
#
# Makes the current folder and those inside it the target vernier_<name>. Its headers are "<name>/<file>.hpp" to itself
# and to those that use it, directly or not, and do not exist for anybody else: each target has an include root of its
# own, which holds nothing but a link to the folder.
function(vernier_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;LINKS;ANY_GPU;ALSO_ANY_GPU")
  set(root ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${name} SYMBOLIC)

  file(GLOB sources CONFIGURE_DEPENDS *.cpp */*.cpp)
  vernier_unity_groups(${sources})
  vernier_cpu_options(sources)
  if(VERNIER_HAS_CUDA)
    file(GLOB kernels CONFIGURE_DEPENDS *.cu */*.cu)
    vernier_gpu_options("${kernels}" "${arg_ANY_GPU}" "${arg_ALSO_ANY_GPU}")
    vernier_host_code("${kernels}")
    list(APPEND sources ${kernels})
    list(APPEND arg_LINKS $<$<BOOL:${kernels}>:CUDA::cudart_static>)
  endif()
  if(sources)
    add_library(vernier_${name} STATIC ${sources})
    set_target_properties(vernier_${name} PROPERTIES UNITY_BUILD ${VERNIER_UNITY} UNITY_BUILD_MODE GROUP)
    if(VERNIER_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # which takes included sources for headers
      target_compile_options(vernier_${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
    endif()
    set(scope PUBLIC)
  else()
    add_library(vernier_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  list(TRANSFORM arg_USES PREPEND vernier_)
  target_include_directories(vernier_${name} ${scope} ${root})
  target_link_libraries(vernier_${name} ${scope} ${arg_USES} ${arg_LINKS})
endfunction()

# Sources of one folder share what is in unnamed namespaces, so that names are told apart there; macros end with their
# source. Those with options of their own stay alone.
function(vernier_unity_groups)
  foreach(source ${ARGN})
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME group)
    if(NOT options AND NOT definitions AND NOT source MATCHES ${VERNIER_OF_INSTRUCTION_SET})
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()

# Puts the objects of the layers into a library, whether static or shared. Those compiled for an instruction set come
# last: of an inline function the linker keeps the first copy that it meets, which must run on every machine. (Sources
# of instruction sets should leave none: tests/layers/instruction_sets.cmake.)
function(vernier_bundle library)
  vernier_layer_objects(objects ${ARGN})
  foreach(order EXCLUDE INCLUDE)
    target_sources(${library} PRIVATE "$<FILTER:${objects},${order},${VERNIER_OF_INSTRUCTION_SET}>")
  endforeach()
endfunction()

# Objects of sources that are named for an instruction set.
set(VERNIER_OF_INSTRUCTION_SET "[/_](avx2|avx512|avx512_vnni|avx512_bf16|amx)\\.cpp")

function(vernier_layer_objects variable)
  foreach(layer ${ARGN})
    get_target_property(type vernier_${layer} TYPE)
    if(NOT type STREQUAL INTERFACE_LIBRARY)
      list(APPEND objects $<TARGET_OBJECTS:vernier_${layer}>)
    endif()
  endforeach()
  set(${variable} "${objects}" PARENT_SCOPE)
endfunction()

# A source named for an instruction set is compiled for it, and runs only where the registry has found it at run time.
# Other processors leave it out, and VERNIER_X86 is 0 there.
string(REGEX MATCH "^(x86_64|amd64|AMD64)$" VERNIER_X86 "${CMAKE_SYSTEM_PROCESSOR}")
function(vernier_cpu_options variable)
  set(sources ${${variable}})
  set(avx2 -mavx2 -mfma)
  set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl -mavx512ifma -mavx512vbmi -mavx512vbmi2
             -mavx512vnni -mprefer-vector-width=512)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # GCC bug 105593: its own intrinsics warn
    list(APPEND avx512 -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
  set(avx512_vnni ${avx512})
  set(avx512_bf16 ${avx512} -mavx512bf16)
  set(amx ${avx512} -mamx-tile -mamx-int8)
  foreach(isa avx2 avx512 avx512_vnni avx512_bf16 amx)
    set(files ${sources})
    list(FILTER files INCLUDE REGEX "[/_]${isa}\\.cpp$")
    list(REMOVE_ITEM sources ${files})
    if(VERNIER_X86 AND files)
      list(APPEND sources ${files})  # last in the layer's archive, should one be left
      # Optimised in every build, so that functions are inlined and none is left to the linker.
      set_source_files_properties(${files} PROPERTIES COMPILE_OPTIONS "${${isa}};$<$<NOT:$<CONFIG:Release>>:-O2>"
                                  SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

function(vernier_gpu_options kernels any_gpu also_any_gpu)
  foreach(name IN LISTS any_gpu also_any_gpu)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name})
      message(FATAL_ERROR "${name}: expected a kernel file of this folder")
    endif()
  endforeach()
  foreach(kernel IN LISTS kernels)
    cmake_path(RELATIVE_PATH kernel BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE name)
    set(code ${VERNIER_HOPPER})
    if(name IN_LIST any_gpu)
      set(code ${VERNIER_ANY_GPU})
    elseif(name IN_LIST also_any_gpu)
      list(APPEND code ${VERNIER_ANY_GPU})
    endif()
    set_source_files_properties(${kernel} PROPERTIES COMPILE_OPTIONS "${code}")
  endforeach()
endfunction()

# Sources of the CUDA part without device code are C++, which takes a third of nvcc's time.
function(vernier_host_code sources)
  foreach(source IN LISTS sources)
    file(STRINGS ${source} device_code LIMIT_COUNT 1 REGEX "__global__|__device__|__constant__|__managed__|<<<|[.]cuh\"")
    if(NOT device_code)
      set_source_files_properties(${source} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})  # until it has some
    endif()
  endforeach()
endfunction()
