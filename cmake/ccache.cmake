# Compiler cache when it is installed; it turns a clean rebuild into seconds. Paths below the source folder are hashed as
# relative ones, so that clones share what they compiled.
find_program(ATTUNE_CCACHE ccache)
if(ATTUNE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${ATTUNE_CCACHE}")
endif()
