// A space that is a list of configurations, for providers whose choices follow no rule.
#include "base/error.h"
#include "space/space.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace attune {
namespace {

/// Only numbers that are written as they are printed: "08" and "+8" are texts.
std::optional<int64_t> parse_number(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || std::to_string(value) != text) return std::nullopt;
  return value;
}

Parameter make_parameter(const std::string& name, const std::set<std::string>& texts) {
  std::vector<int64_t> numbers;
  for (const std::string& text : texts)
    if (const auto number = parse_number(text)) numbers.push_back(*number);
  if (numbers.size() == texts.size()) return make_ordinal(name, std::move(numbers));
  return make_categorical(name, {texts.begin(), texts.end()});
}

}  // namespace

Space Space::of_list(const std::vector<Config>& configs) {
  Space space;
  std::map<std::string, std::set<std::string>> values;
  for (const Config& config : configs)
    for (const auto& [name, text] : config) values[name].insert(text);
  for (const auto& [name, texts] : values) space.add(make_parameter(name, texts));
  for (size_t i = 0; i < space.parameters_.size(); ++i)
    space.conditional_[i] = std::ranges::any_of(
        configs, [&](const Config& config) { return !config.contains(space.parameters_[i]->name); });
  for (const Config& config : configs) {
    Point point = space.point_of(config).value();
    if (!space.list_index_.emplace(point, space.list_.size()).second)
      throw UserError("a space lists {{{}}} twice", to_text(config));
    space.list_.push_back(std::move(point));
  }
  if (!configs.empty()) space.default_ = configs.front();
  space.has_default_ = !configs.empty();
  space.size_ = configs.size();
  space.is_built_ = true;
  return space;
}

}  // namespace attune
