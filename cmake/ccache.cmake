# Compiler cache when it is installed; it turns a clean rebuild into seconds.
find_program(ATTUNE_CCACHE ccache)
if(ATTUNE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${ATTUNE_CCACHE}")
endif()
