#include "bank/diff.h"

#include "bank/record_text.h"
#include "bank/select.h"

#include <map>

namespace attune {
namespace {

Change change_of(const Record& before, const Record& after) {
  if (record_id(before) == record_id(after)) return Change::same;
  if (after.ratio->high < before.ratio->low) return Change::faster;
  if (after.ratio->low > before.ratio->high) return Change::slower;
  return Change::tie;
}

}  // namespace

std::string_view change_name(Change change) {
  switch (change) {
    case Change::only_in_old: return "only in old";
    case Change::only_in_new: return "only in new";
    case Change::same: return "same";
    case Change::faster: return "faster";
    case Change::slower: return "slower";
    case Change::tie: return "tie";
  }
  return "";
}

std::vector<BankDifference> compare_banks(const Bank& before, const Bank& after, const RecordFilter& filter) {
  std::map<BankKey, BankDifference> by_key;
  for (Record& record : best_records(before, filter, nullptr)) {
    BankDifference& entry = by_key[record.key];
    entry.key = record.key;
    entry.change = Change::only_in_old;
    entry.before = std::move(record);
  }
  for (Record& record : best_records(after, filter, nullptr)) {
    BankDifference& entry = by_key[record.key];
    entry.key = record.key;
    entry.change = entry.before ? change_of(*entry.before, record) : Change::only_in_new;
    entry.after = std::move(record);
  }
  std::vector<BankDifference> differences;
  for (auto& [key, difference] : by_key) differences.push_back(std::move(difference));
  return differences;
}

}  // namespace attune
