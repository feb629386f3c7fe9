// Denormal numbers make floating-point instructions up to a hundred times slower and carry no information in a network.
#pragma once

namespace attune {

/// Sets flush-to-zero and denormals-are-zero in the calling thread and in the pool that parallel_for gives it. Cheap
/// when it is done already.
void flush_denormals_in_pool();

}  // namespace attune
