# What `cmake --install` puts down: the library, its headers, find_package(vernier) and pkg-config.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vernier)

install(TARGETS vernier EXPORT vernierTargets)
install(DIRECTORY include/vernier DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT vernierTargets NAMESPACE vernier:: DESTINATION ${package_dir})
export(EXPORT vernierTargets NAMESPACE vernier::)  # vernier_DIR may name this build folder: the wheel compiles nothing twice

install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN Doxyfile EXCLUDE)

configure_package_config_file(cmake/vernierConfig.cmake.in vernierConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(vernierConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/vernierConfig.cmake ${PROJECT_BINARY_DIR}/vernierConfigVersion.cmake
        DESTINATION ${package_dir})

file(RELATIVE_PATH VERNIER_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
if(VERNIER_HAS_CUDA)
  set(cuda_libraries ${CUDA_cudart_static_LIBRARY} -lrt -ldl)
endif()
string(JOIN " " VERNIER_PC_LIBS_PRIVATE ${BLAS_LIBRARIES} ${cuda_libraries} ${OpenMP_CXX_FLAGS})
configure_file(cmake/vernier.pc.in vernier.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/vernier.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
