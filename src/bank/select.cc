#include "bank/select.h"

#include "bank/record_text.h"
#include "base/error.h"

#include <map>

namespace attune {

std::vector<Record> best_records(const Bank& bank, const RecordFilter& filter, const EnvironmentOf& environment_of) {
  std::map<BankKey, std::vector<Record>> by_key;
  bank.each(filter, [&](const Record& record) { by_key[record.key].push_back(record); });
  std::vector<Record> best;
  for (const auto& [key, records] : by_key)
    if (const Record* record = best_of(records, environment_of)) best.push_back(*record);
  return best;
}

Record require_record(const Bank& bank, std::string_view prefix) {
  std::vector<Record> found;
  bank.each({}, [&](const Record& record) {
    if (found.size() < 2 && record_id(record).starts_with(prefix)) found.push_back(record);
  });
  if (found.empty())
    throw UserError("no record of '{}' has an id that begins with '{}'; 'attune bank list' shows them", bank.name(),
                    prefix);
  if (found.size() > 1)
    throw UserError("several records of '{}' have ids that begin with '{}'; give more digits", bank.name(), prefix);
  return found[0];
}

std::string why_not_applied(const Record& record, const std::string& device, const EnvironmentOf& environment_of) {
  if (record.outcome != Outcome::ok) return fmt::format("the trial ended as {}", outcome_name(record.outcome));
  if (!record.ratio) return "it was not measured beside the default";
  if (!record.max_error) return "its result was not compared with the reference";
  if (!is_verified(record))
    return fmt::format("its error {:.3g} is above the tolerance {:.3g}", *record.max_error, record.tolerance);
  if (record.key.device != device)
    return fmt::format("it was measured on another device ({}), this one is {}", record.key.device, device);
  const auto present = environment_of(record.provider);
  if (!present) return fmt::format("there is no provider '{}' here", record.provider);
  if (*present != record.environment)
    return fmt::format("'{}' ran in another environment ({}), here it is {}", record.provider, record.environment,
                       *present);
  return "";
}

}  // namespace attune
