# Clang and LLVM 19 as the target LLVM::ClangCpp: the two shared libraries by their paths. The packages' own CMake files
# would add /usr/lib/llvm-19/lib to the link path, whose libgomp is another OpenMP runtime.
set(attune_llvm_hints /usr/lib/llvm-19 /usr/local/llvm-19 /opt/llvm-19)
find_path(LLVM_INCLUDE_DIR clang/CodeGen/CodeGenAction.h
  HINTS ${LLVM_ROOT} PATHS ${attune_llvm_hints} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_library(LLVM_CLANG_LIBRARY NAMES clang-cpp libclang-cpp.so.19.1
  HINTS ${LLVM_ROOT} PATHS ${attune_llvm_hints} PATH_SUFFIXES lib NO_DEFAULT_PATH)
find_library(LLVM_LIBRARY NAMES LLVM-19 LLVM
  HINTS ${LLVM_ROOT} PATHS ${attune_llvm_hints} PATH_SUFFIXES lib NO_DEFAULT_PATH)
mark_as_advanced(LLVM_INCLUDE_DIR LLVM_CLANG_LIBRARY LLVM_LIBRARY)
if(LLVM_INCLUDE_DIR)
  file(STRINGS "${LLVM_INCLUDE_DIR}/llvm/Config/llvm-config.h" line REGEX "#define LLVM_VERSION_STRING ")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" LLVM_VERSION "${line}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LLVM REQUIRED_VARS LLVM_LIBRARY LLVM_CLANG_LIBRARY LLVM_INCLUDE_DIR
  VERSION_VAR LLVM_VERSION)
if(LLVM_FOUND AND NOT TARGET LLVM::ClangCpp)
  add_library(LLVM::ClangCpp INTERFACE IMPORTED GLOBAL)
  target_include_directories(LLVM::ClangCpp SYSTEM INTERFACE "${LLVM_INCLUDE_DIR}")
  target_link_libraries(LLVM::ClangCpp INTERFACE "${LLVM_CLANG_LIBRARY}" "${LLVM_LIBRARY}")
endif()
