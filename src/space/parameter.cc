#include "space/parameter.h"

#include "base/error.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace attune {
namespace {

constexpr size_t kMaxValues = kAbsent;  // choices are 0 .. kAbsent - 1
constexpr size_t kMaxItems = 8;         // 40320 orders
constexpr char kItemSeparator = '-';

void check_values(const Parameter& parameter) {
  if (parameter.name.empty()) throw UserError("a parameter needs a name");
  if (parameter.texts.empty()) throw UserError("parameter '{}' has no values; give at least one", parameter.name);
  if (parameter.texts.size() > kMaxValues)
    throw UserError("parameter '{}' has {} values, at most {} are possible; use coarser steps", parameter.name,
                    parameter.texts.size(), kMaxValues);
  std::set<std::string> seen;
  for (const auto& text : parameter.texts)
    if (!seen.insert(text).second)
      throw UserError("parameter '{}' has the value '{}' twice; list each value once", parameter.name, text);
}

std::vector<std::string> split_items(const std::string& text) {
  std::vector<std::string> items(1);
  for (const char c : text)
    if (c == kItemSeparator)
      items.emplace_back();
    else
      items.back() += c;
  return items;
}

}  // namespace

std::optional<ValueIndex> Parameter::find(const std::string& text) const {
  const auto place = std::ranges::find(texts, text);
  if (place == texts.end()) return std::nullopt;
  return static_cast<ValueIndex>(place - texts.begin());
}

std::vector<int64_t> Parameter::positions(const std::string& item) const {
  if (std::ranges::find(items, item) == items.end())
    throw UserError("permutation '{}' has no item '{}'; its items are {}", name, item, fmt::join(items, ", "));
  std::vector<int64_t> result;
  for (const auto& text : texts) {
    const auto order = split_items(text);
    result.push_back(std::ranges::find(order, item) - order.begin());
  }
  return result;
}

Parameter make_ordinal(std::string name, std::vector<int64_t> values) {
  Parameter parameter{std::move(name), ParameterKind::ordinal, {}, std::move(values), {}};
  // Neighbours of an ordered parameter are the next smaller and the next larger value.
  std::ranges::sort(parameter.numbers);
  for (const int64_t value : parameter.numbers) parameter.texts.push_back(std::to_string(value));
  check_values(parameter);
  return parameter;
}

Parameter make_power_of_two(std::string name, int64_t low, int64_t high) {
  const auto is_power = [](int64_t value) { return value > 0 && (value & (value - 1)) == 0; };
  if (!is_power(low) || !is_power(high) || low > high)
    throw UserError("parameter '{}' needs powers of two from low to high, got {} to {}", name, low, high);
  std::vector<int64_t> values;
  for (int64_t value = low; value < high; value *= 2) values.push_back(value);
  values.push_back(high);
  Parameter parameter = make_ordinal(std::move(name), std::move(values));
  parameter.kind = ParameterKind::power_of_two;
  return parameter;
}

Parameter make_boolean(std::string name) { return {std::move(name), ParameterKind::boolean, {"0", "1"}, {0, 1}, {}}; }

Parameter make_categorical(std::string name, std::vector<std::string> texts) {
  Parameter parameter{std::move(name), ParameterKind::categorical, std::move(texts), {}, {}};
  check_values(parameter);
  parameter.numbers.resize(parameter.texts.size());
  std::iota(parameter.numbers.begin(), parameter.numbers.end(), 0);
  return parameter;
}

Parameter make_permutation(std::string name, std::vector<std::string> items) {
  if (items.size() > kMaxItems)
    throw UserError("permutation '{}' has {} items, at most {} are possible; fix the order of some", name, items.size(),
                    kMaxItems);
  for (const auto& item : items)
    if (item.empty() || item.find(kItemSeparator) != std::string::npos)
      throw UserError("permutation '{}' has the item '{}'; items must not be empty or contain '{}'", name, item,
                      kItemSeparator);
  Parameter parameter{std::move(name), ParameterKind::permutation, {}, {}, items};
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    std::vector<std::string> ordered;
    for (const size_t i : order) ordered.push_back(items[i]);
    parameter.numbers.push_back(static_cast<int64_t>(parameter.texts.size()));
    parameter.texts.push_back(fmt::format("{}", fmt::join(ordered, std::string(1, kItemSeparator))));
  } while (std::ranges::next_permutation(order).found);
  if (items.empty()) parameter.texts.clear();
  check_values(parameter);
  return parameter;
}

}  // namespace attune
