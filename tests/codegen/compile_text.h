// Compiles small texts for tests.
#pragma once

#include "codegen/compiler_module.h"
#include "codegen/loaded_object.h"

#include <gtest/gtest.h>

namespace attune::testing {

#define SKIP_WITHOUT_COMPILER() \
  if (attune::find_compiler().compiler == nullptr) GTEST_SKIP() << attune::find_compiler().problem

inline CompiledObject compile_text(const std::string& text, Isa isa = Isa::baseline) {
  CompileOptions options;
  options.isa = isa;
  return find_compiler().compiler->compile({text, "kernel"}, options);
}

template <class F> F function_of(const LoadedObject& object, std::string_view name) {
  return reinterpret_cast<F>(reinterpret_cast<uintptr_t>(object.function(name)));
}

}  // namespace attune::testing
