cmake_minimum_required(VERSION 3.25)

# What libvernier exports is declared in the public headers: every name of the project's namespace in its dynamic
# symbols occurs there. What the cuBLAS preload's tests have in its place, it has too: they call all that the preload
# looks up. And libvernier's code of fmt, which an archive hands to the program's linker, is in a namespace of our own.
file(GLOB headers ${source}/include/vernier/*)
set(declared "")
foreach(header ${headers})
  file(READ ${header} text)
  string(APPEND declared "${text}")
endforeach()

execute_process(COMMAND ${nm} -D -C --defined-only --without-symbol-versions ${library}
                OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[^\n]* W (void )?std::[^\n]*" "" symbols "${symbols}")  # of the standard library, for our types
string(REGEX MATCHALL "(vernier::[A-Za-z0-9_:]+|vernier_[a-z0-9_]+)" names "${symbols}")
list(REMOVE_DUPLICATES names)
list(LENGTH names count)
if(count LESS 50)
  message(FATAL_ERROR "${library} exports ${count} names of the project; expected all of its interface")
endif()
foreach(name ${names})
  string(REGEX REPLACE ".*::" "" last "${name}")
  if(NOT declared MATCHES "[^A-Za-z0-9_]${last}[^A-Za-z0-9_]")
    message(SEND_ERROR "${library} exports ${name}, which no header of include/ declares")
  endif()
endforeach()

if(fake)
  execute_process(COMMAND ${nm} -D --defined-only --without-symbol-versions ${fake}
                  OUTPUT_VARIABLE stand_ins COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "vernier_[a-z0-9_]+" stand_ins "${stand_ins}")
  list(LENGTH stand_ins count)
  if(count LESS 15)
    message(FATAL_ERROR "${fake} exports ${count} names; expected those of the interface that the preload looks up")
  endif()
  list(REMOVE_ITEM stand_ins ${names})
  if(stand_ins)
    message(SEND_ERROR "${library} lacks ${stand_ins}, which ${fake} has")
  endif()
endif()

execute_process(COMMAND ${nm} -C --defined-only ${fmt} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "fmt::[A-Za-z0-9_]+" names "${symbols}")
list(REMOVE_DUPLICATES names)
if(NOT names STREQUAL "fmt::of_vernier")
  message(SEND_ERROR "${fmt} holds ${names}; expected fmt::of_vernier alone")
endif()

# Locks of OpenMP's that are the whole process's: a child of fork() waits for one for ever where another thread had it
# (base/shared_result.hpp).
execute_process(COMMAND ${nm} -D --undefined-only ${library} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(symbols MATCHES "GOMP_(atomic|critical)[a-z_]*")
  message(SEND_ERROR "${library} calls ${CMAKE_MATCH_0}; expected neither critical sections nor reductions of several variables")
endif()
