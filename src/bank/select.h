// Questions about a whole bank that the command line and reports ask.
#pragma once

#include "bank/bank.h"

namespace attune {

/// The best record of each key that passes the filter, by key. Where `environment_of` is empty, of any environment.
std::vector<Record> best_records(const Bank& bank, const RecordFilter& filter, const EnvironmentOf& environment_of);

/// The one record whose id begins with `prefix`. Throws UserError when there is none or more than one.
Record require_record(const Bank& bank, std::string_view prefix);

/// Why a record does not apply to its workload on a machine; empty when it does, though another may be better.
std::string why_not_applied(const Record& record, const std::string& device, const EnvironmentOf& environment_of);

}  // namespace attune
