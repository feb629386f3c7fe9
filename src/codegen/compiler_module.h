// Finds the compiler's module, libattune_codegen.so, and the program that compiles with it, attune-compile. Nothing is
// started or loaded before something is compiled.
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

/// Why kernels would be compiled in this process, which costs it some 50 MB; empty: a process of its own compiles them.
std::string missing_helper();

/// The version that compilers of this build have, part of the key of cached objects.
std::string compiler_version();

/// The compiler in a process of its own, by the attune-compile beside the module or that of ATTUNE_COMPILE_HELPER; in
/// this process where there is none, where ATTUNE_COMPILE_HELPER is `off`, and after compile_in_process(). The module
/// is that of ATTUNE_CODEGEN_MODULE when that names a file, else it is looked for beside the executable or library that
/// this code is part of, and in the library folders next to it.
const CompilerLookup& find_compiler();

/// The compiler in this process: loads the module, once.
const CompilerLookup& load_compiler();

/// For processes that must not start others; call it before anything is compiled.
void compile_in_process(std::string why);

/// What the module exports: makes the compiler, which lives as long as the process. The number in its name changes with
/// the interface, so that a module of another version is not taken.
inline constexpr const char* kMakeCompiler = "attune_make_compiler_1";
using MakeCompiler = Compiler* (*)();

}  // namespace attune
