#include "bank/filter.h"

#include <algorithm>

namespace attune {
namespace {

bool equal_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

bool matches(const RecordFilter& filter, const Record& record) {
  if (record.key.workload.find(filter.workload) == std::string::npos) return false;
  if (!filter.op.empty() && !equal_but_for_case(op_of_workload(record.key.workload), filter.op)) return false;
  if (filter.outcome && record.outcome != *filter.outcome) return false;
  if (!filter.device.empty() && record.key.device != filter.device) return false;
  return !filter.measured_before || record.measured_at < *filter.measured_before;
}

}  // namespace attune
