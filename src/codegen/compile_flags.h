// The compiler's flags for generated text, which are part of the key of a cached object.
#pragma once

#include "codegen/compiler.h"

namespace attune {

std::vector<std::string> compile_flags(const CompileOptions& options);

}  // namespace attune
