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

/// A kernel whose threads meet while they run is called once on each of a team, as member `begin` of `end`. Its
/// workspace opens with a TeamBarrier for each group of threads that meet, in kTeamHeaderBytes.
struct TeamBarrier {
  void (*meet)(void* barrier);  // returns when all of the group have come
  void* barrier;
};
inline constexpr int kMostTeamGroups = 4;
inline constexpr long kTeamHeaderBytes = 64;
static_assert(kMostTeamGroups * sizeof(TeamBarrier) <= kTeamHeaderBytes);

}  // namespace attune
