// Which records of a bank a caller wants to see.
#pragma once

#include "bank/record.h"

namespace attune {

/// Every condition that is set has to hold.
struct RecordFilter {
  std::string workload = {};  // a part of the workload's text
  std::string op = {};        // the whole name, "Conv" or "attune::FusedConv"; case is ignored
  std::optional<Outcome> outcome = {};
  std::string device = {};                      // the whole text
  std::optional<int64_t> measured_before = {};  // seconds since 1970
};

bool matches(const RecordFilter& filter, const Record& record);

}  // namespace attune
