# cmake --install: the command line, the shared library with its headers, and a package for find_package(attune).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS attune_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS attune_shared EXPORT attune_targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/attune" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

set(attune_package "${CMAKE_INSTALL_LIBDIR}/cmake/attune")
install(EXPORT attune_targets NAMESPACE attune:: FILE attuneConfig.cmake DESTINATION "${attune_package}")
# The interface may change with the second number until there is a 1.0.
write_basic_package_version_file("${CMAKE_BINARY_DIR}/attuneConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/attuneConfigVersion.cmake" DESTINATION "${attune_package}")
if(TARGET attune_codegen)
  install(TARGETS attune_codegen LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/attune")
  install(TARGETS attune_compile RUNTIME DESTINATION "${CMAKE_INSTALL_LIBDIR}/attune")
endif()
