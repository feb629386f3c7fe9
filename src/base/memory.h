// How much memory there is, and refusing what it cannot hold before anything is allocated.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace attune {

/// Memory that this process may still take: what the system reports as available, the cgroup's limit and RLIMIT_AS
/// considered.
int64_t available_memory_bytes();

/// Throws UserError naming `what()` when `bytes` is more than available_memory_bytes(). Small requests pass unchecked.
void check_memory(int64_t bytes, const std::function<std::string()>& what);

/// Gives memory that was freed back to the system, the holes in the heap included: for after something large that does
/// not happen again.
void return_freed_memory();

}  // namespace attune
