// What the best of each key became from one bank to another.
#pragma once

#include "bank/bank.h"

namespace attune {

enum class Change : uint8_t { only_in_old, only_in_new, same, faster, slower, tie };
std::string_view change_name(Change change);

struct BankDifference {
  BankKey key;
  Change change = Change::same;  // same: the same record; a tie: another whose interval overlaps
  std::optional<Record> before, after;
};

/// By key. Environments are not looked at: banks of two versions of a library are what one wants to compare.
std::vector<BankDifference> compare_banks(const Bank& before, const Bank& after, const RecordFilter& filter);

}  // namespace attune
