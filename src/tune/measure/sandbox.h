// What the worker forbids itself before it runs kernels that may be broken. No protection against malice: it keeps
// accidents inside one process.
#pragma once

#include <cstdint>
#include <string>

namespace attune::tune {

/// Dies with the parent (of this process id), leaves no core dumps, writes no large files, is the first that the system
/// kills when memory runs out. Exits where the parent is gone already.
void enter_sandbox(int parent);

/// From here on, starting processes and sending signals to other ones ends this process with SIGSYS; threads may still
/// be started. Does nothing where the system has no seccomp; the process group is killed as a whole in any case.
void forbid_processes();

/// Bounds the address space to what is used now and this much more; 0: no bound.
void limit_memory(int64_t more_bytes);

}  // namespace attune::tune
