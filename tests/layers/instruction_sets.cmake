cmake_minimum_required(VERSION 3.25)

# No object that is compiled for an instruction set defines a function that the linker might take for other objects too:
# its weak symbols are instances of templates that are named for the instruction set. Of any other inline function the
# linker would keep one copy for all, and a processor without those instructions would end in the middle of it. Nor is
# there code in them that runs by itself when a program begins.
string(REPLACE "|" ";" objects "${objects}")
list(LENGTH objects count)
if(count LESS 10)
  message(FATAL_ERROR "${count} objects are compiled for an instruction set; expected more")
endif()
foreach(object ${objects})
  string(REGEX MATCH "[/_](avx2|avx512|avx512_vnni|avx512_bf16|amx)[.]cpp[.]" matched "${object}")
  set(instruction_set ${CMAKE_MATCH_1})
  execute_process(COMMAND ${nm} -C --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  if(NOT symbols MATCHES " [TW] ")
    message(SEND_ERROR "${object} defines nothing that ${nm} shows")
  endif()
  string(REGEX MATCHALL " W [^\n]+" functions "${symbols}")
  foreach(function ${functions})
    if(NOT function MATCHES "_${instruction_set}[<(]")
      message(SEND_ERROR "${object} defines${function}, as other objects may")
    endif()
  endforeach()
  if(symbols MATCHES "_GLOBAL__sub_I|__static_initialization")
    message(SEND_ERROR "${object} runs code when a program begins")
  endif()
endforeach()
