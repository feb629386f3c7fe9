// Which of the records of one key wins. The answer depends on the set of records alone, so that every machine with the
// same records gives the same one, however they came together.
#pragma once

#include "bank/record.h"

#include <functional>
#include <span>

namespace attune {

/// The present environment of a provider; nothing for a provider that is not there.
using EnvironmentOf = std::function<std::optional<std::string>(const std::string& provider)>;

/// The best of `records`, which all have one key; nullptr when none applies. A record applies when it is verified and
/// its environment is that which `environment_of` tells for its provider (an empty function accepts every environment),
/// and when its configuration was never found wrong there.
///
/// The lowest upper end of the ratio's interval leads. Records whose ratio lies within the leader's interval are as
/// good as it; of these the one with the most samples wins, then the newest, the smaller configuration text, the
/// smaller id.
const Record* best_of(std::span<const Record> records, const EnvironmentOf& environment_of);

}  // namespace attune
