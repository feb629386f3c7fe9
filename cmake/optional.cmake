# Parts that attune uses when they are there. For each, ATTUNE_WITH_<NAME> is AUTO (use it when found, say how to get it
# when not), ON (required) or OFF (not looked for); ATTUNE_HAS_<NAME> and ATTUNE_<NAME>_VERSION say what
# came of it.
macro(attune_optional name find_name package purpose)
  set(ATTUNE_WITH_${name} AUTO CACHE STRING "${find_name}: AUTO, ON or OFF")
  set_property(CACHE ATTUNE_WITH_${name} PROPERTY STRINGS AUTO ON OFF)
  set(ATTUNE_HAS_${name} OFF)
  set(ATTUNE_${name}_VERSION "")
  if(NOT ATTUNE_WITH_${name} STREQUAL "OFF")
    find_package(${find_name} QUIET)
    if(${find_name}_FOUND)
      set(ATTUNE_HAS_${name} ON)
      set(ATTUNE_${name}_VERSION "${${find_name}_VERSION}")
      message(STATUS "${find_name}: ${${find_name}_VERSION}")
    elseif(ATTUNE_WITH_${name} STREQUAL "ON")
      message(FATAL_ERROR "${find_name} was not found, and ATTUNE_WITH_${name} is ON; install it with "
        "'apt-get install ${package}' or run scripts/bootstrap.sh, or give -DATTUNE_WITH_${name}=OFF")
    else()
      message(STATUS "${find_name} (${purpose}) was not found; 'apt-get install ${package}' brings it")
    endif()
  endif()
endmacro()

attune_optional(ONEDNN OneDNN libdnnl-dev "kernels for CPUs")
attune_optional(LLVM LLVM "libclang-19-dev llvm-19-dev" "compiles generated kernels")
