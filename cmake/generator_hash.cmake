# Writes OUTPUT, a header with the hash of SOURCES and the compiler's VERSION. Run by cmake -P.
set(hashes "")
foreach(source ${SOURCES})
  file(SHA256 "${source}" hash)
  string(APPEND hashes "${hash}")
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING "${hash}" 0 16 hash)
file(WRITE "${OUTPUT}" "// What generated text depends on; made by cmake/generator_hash.cmake.
#pragma once

namespace attune {

inline constexpr const char* kGeneratorHash = \"${hash}\";
inline constexpr const char* kCompilerVersion = \"${VERSION}\";

}  // namespace attune
")
