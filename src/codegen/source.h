// The text of a generated kernel.
#pragma once

#include <string>

namespace attune {

/// Readable C++ without headers that exports `entry` as a GeneratedFunction with C linkage.
struct GeneratedSource {
  std::string text;
  std::string entry;
};

/// Computes tasks [begin, end) on the calling thread. Pointers are those of KernelArguments: inputs and outputs of the
/// workload, what prepare() packed, the workspace.
using GeneratedFunction = void (*)(const void* const* inputs, void* const* outputs, const void* const* prepared,
                                   void* workspace, long begin, long end);

}  // namespace attune
