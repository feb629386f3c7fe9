// Finds and loads the compiler's module, libattune_codegen.so, when it is first needed.
#pragma once

#include "codegen/compiler.h"

namespace attune {

/// The compiler, or why there is none and what to do about it.
struct CompilerLookup {
  const Compiler* compiler = nullptr;
  std::string problem;
};

/// Why there is no compiler, as far as that can be told without loading it, which takes time and memory; empty: a
/// module is there.
const std::string& missing_compiler();

/// Loaded once: in ATTUNE_CODEGEN_MODULE when that names a file, else beside the executable or library that this
/// code is part of, and in the library folders next to it.
const CompilerLookup& find_compiler();

/// What the module exports: makes the compiler, which lives as long as the process. The number in its name changes with
/// the interface, so that a module of another version is not taken.
inline constexpr const char* kMakeCompiler = "attune_make_compiler_1";
using MakeCompiler = Compiler* (*)();

}  // namespace attune
