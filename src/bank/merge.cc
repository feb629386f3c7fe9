#include "bank/merge.h"

#include "bank/device_fingerprint.h"
#include "base/error.h"

namespace attune {
namespace {

std::set<std::string> models_of(const Bank& bank) {
  std::set<std::string> models;
  for (const std::string& device : bank.devices()) models.emplace(device_model(device));
  return models;
}

/// Throws unless every source is of a processor that the target has, or all are of one where it has none.
void check_models(const Bank& target, std::span<const Bank* const> sources) {
  std::set<std::string> known = models_of(target);
  std::string owner = target.name();
  for (const Bank* source : sources)
    for (const std::string& model : models_of(*source)) {
      if (known.empty()) {
        owner = source->name();
        known.insert(model);
      }
      if (!known.contains(model))
        throw UserError(
            "'{}' has records of '{}' and '{}' of '{}', which do not apply to each other; merge banks of one "
            "processor only, nothing was changed",
            source->name(), model, owner, *known.begin());
    }
}

AddCounts add_all(Bank& target, const Bank& source) {
  constexpr size_t kRecordsAtOnce = 4096;  // one transaction; a merge that is cut short is completed by doing it again
  AddCounts total;
  std::vector<Record> portion;
  const auto flush = [&] {
    const AddCounts counts = target.add(portion);
    total.added += counts.added;
    total.known += counts.known;
    total.removed += counts.removed;
    portion.clear();
  };
  source.each({}, [&](const Record& record) {
    portion.push_back(record);
    portion.back().origin = Origin::imported;
    if (portion.size() == kRecordsAtOnce) flush();
  });
  flush();
  return total;
}

}  // namespace

std::vector<AddCounts> merge_banks(Bank& target, std::span<const Bank* const> sources) {
  check_models(target, sources);
  std::vector<AddCounts> counts;
  for (const Bank* source : sources) counts.push_back(add_all(target, *source));
  return counts;
}

}  // namespace attune
