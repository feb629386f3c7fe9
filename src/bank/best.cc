#include "bank/best.h"

#include "bank/record_text.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace attune {
namespace {

bool is_of_environment(const Record& record, const EnvironmentOf& environment_of) {
  if (!environment_of) return true;
  const auto present = environment_of(record.provider);
  return present && *present == record.environment;
}

/// Whether a is the better of two that are equally fast. The id makes the order total.
bool is_preferred(const Record& a, const Record& b) {
  if (a.samples_ns.size() != b.samples_ns.size()) return a.samples_ns.size() > b.samples_ns.size();
  if (a.measured_at != b.measured_at) return a.measured_at > b.measured_at;
  const auto texts = [](const Record& record) {
    return std::tuple(to_text(record.config), record.provider, record_id(record));
  };
  return texts(a) < texts(b);
}

bool leads(const Record& a, const Record& b) {
  if (a.ratio->high != b.ratio->high) return a.ratio->high < b.ratio->high;
  return is_preferred(a, b);
}

}  // namespace

const Record* best_of(std::span<const Record> records, const EnvironmentOf& environment_of) {
  // One wrong answer is enough: a kernel that is right most of the time has a race.
  std::set<std::tuple<std::string, std::string, Config>> wrong;
  for (const Record& record : records)
    if (record.outcome == Outcome::wrong) wrong.emplace(record.provider, record.environment, record.config);
  std::vector<const Record*> candidates;
  for (const Record& record : records)
    if (is_verified(record) && is_of_environment(record, environment_of) &&
        !wrong.contains({record.provider, record.environment, record.config}))
      candidates.push_back(&record);
  if (candidates.empty()) return nullptr;

  const Record* leader =
      *std::ranges::min_element(candidates, [](const Record* a, const Record* b) { return leads(*a, *b); });
  const Record* best = leader;
  for (const Record* record : candidates)
    if (record->ratio->value <= leader->ratio->high && is_preferred(*record, *best)) best = record;
  return best;
}

}  // namespace attune
