// A loop that is to become vector code at the optimisation level of the build.
#pragma once

// GCC at -O2 vectorises only loops whose length it knows, unless told; clang does without, and warns where a level
// below -O2 leaves a marked loop as it is.
#ifdef __clang__
#define ATTUNE_SIMD_LOOP(...)
#else
#define ATTUNE_PRAGMA(text) _Pragma(#text)
#define ATTUNE_SIMD_LOOP(...) ATTUNE_PRAGMA(omp simd __VA_ARGS__)
#endif
