cmake_minimum_required(VERSION 3.25)

# Installs the build into a prefix of its own and builds main.cpp and main.c against it twice: with find_package, and
# with pkg-config and the compiler alone.
set(work ${build}/tests/package)
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})
set(ENV{PKG_CONFIG_PATH} ${prefix}/${libdir}/pkgconfig)
set(ENV{LD_LIBRARY_PATH} ${prefix}/${libdir}:$ENV{LD_LIBRARY_PATH})

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${build} --config ${config} --prefix ${prefix})
if(apps)
  run(${prefix}/bin/vernier info)
endif()

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/cmake -G ${generator} -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_C_COMPILER=${c_compiler}
    -DCMAKE_CXX_FLAGS=${flags} -DCMAKE_C_FLAGS=${flags} -DCMAKE_BUILD_TYPE=${config} -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${work}/cmake --config ${config})
run(${work}/cmake/consumer)
run(${work}/cmake/consumer_c)
if(apps AND shared)  # the installed preload finds the installed library
  run(${prefix}/bin/vernier run --min-size 0 -- ${work}/cmake/consumer)
endif()

# The examples, as a user builds them.
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/../../examples -B ${work}/examples -G ${generator}
    -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_C_COMPILER=${c_compiler} -DCMAKE_CXX_FLAGS=${flags} -DCMAKE_C_FLAGS=${flags}
    -DCMAKE_BUILD_TYPE=${config} -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${work}/examples --config ${config})
run(${CMAKE_CTEST_COMMAND} --test-dir ${work}/examples --output-on-failure --no-tests=error)

# What comes with the program and the library.
set(expected share/doc/vernier/LICENSE share/doc/vernier/README.md share/doc/vernier/CHANGELOG.md share/doc/vernier/CITATION.cff
    share/doc/vernier/docs/accuracy.md share/doc/vernier/examples/product.cpp)
if(apps)
  list(APPEND expected share/man/man1/vernier.1 share/man/man1/vernier-gemm.1
       share/bash-completion/completions/vernier share/zsh/site-functions/_vernier
       share/fish/vendor_completions.d/vernier.fish)
endif()
foreach(file IN LISTS expected)
  file(SIZE ${prefix}/${file} size)  # fails where it is missing
  if(size EQUAL 0)
    message(FATAL_ERROR "${prefix}/${file} is empty")
  endif()
endforeach()

if(NOT shared)
  set(static --static)
endif()
execute_process(COMMAND pkg-config --cflags --libs ${static} vernier OUTPUT_VARIABLE pc OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(pc UNIX_COMMAND "${pc}")
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${compiler} -std=c++20 ${flags} ${CMAKE_CURRENT_LIST_DIR}/main.cpp ${pc} -o ${work}/consumer)
run(${work}/consumer)
if(shared)  # C needs no C++ library of its own where libvernier brings it along
  run(${c_compiler} -std=c99 ${flags} ${CMAKE_CURRENT_LIST_DIR}/main.c ${pc} -o ${work}/consumer_c)
  run(${work}/consumer_c)
endif()
