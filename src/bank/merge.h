// The union of banks. It is the same in whatever order and however often banks are merged, since records are named by
// their contents; failures come along.
#pragma once

#include "bank/bank.h"

namespace attune {

/// Adds the records of the sources to the target; one count for each source. Banks of different processors are refused
/// before anything is written: the records of one never apply on the other. A target that has records of several keeps
/// taking those of each.
std::vector<AddCounts> merge_banks(Bank& target, std::span<const Bank* const> sources);

}  // namespace attune
