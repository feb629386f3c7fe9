#include "bank/bank.h"

namespace attune {

std::set<std::string> Bank::devices() const {
  std::set<std::string> devices;
  each({}, [&](const Record& record) { devices.insert(record.key.device); });
  return devices;
}

std::optional<Record> Bank::best(const BankKey& key, const EnvironmentOf& environment_of) const {
  const std::vector<Record> records = find(key);
  const Record* best = best_of(records, environment_of);
  return best == nullptr ? std::nullopt : std::optional(*best);
}

}  // namespace attune
