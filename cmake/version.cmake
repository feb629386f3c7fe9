# ATTUNE_VERSION, from the public header, so that it stands in one place.
file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/include/attune/version.h" lines REGEX "#define ATTUNE_VERSION_")
string(REGEX REPLACE "#define ATTUNE_VERSION_[A-Z]+ +" "" numbers "${lines}")
list(JOIN numbers "." ATTUNE_VERSION)
