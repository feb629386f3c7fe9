// From text to object code: out of the compile cache, or compiled and kept there.
#pragma once

#include "codegen/compiler.h"
#include "codegen/kernel_meta.h"

namespace attune {

/// Options for kernels that this process runs: its instruction set, and its own sanitizers, so that generated code is
/// checked like the rest.
CompileOptions host_compile_options();

/// An error value when the text does not compile or there is no compiler.
CompiledObject build_object(const GeneratedSource& source, const CompileOptions& options,
                            const KernelDescription& description);

}  // namespace attune
