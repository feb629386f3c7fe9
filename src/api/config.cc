#include "api/guarded.h"
#include "api/space_access.h"

#include <charconv>

namespace attune {
inline namespace v1 {

Config::Config() = default;
Config::Config(std::initializer_list<std::pair<const char*, ConfigValue>> values) {
  for (const auto& [name, value] : values)
    if (!values_.emplace(name, value.text).second) throw UserError(fmt::format("'{}' is given twice", name));
}
Config::Config(std::map<std::string, std::string> values) : values_(std::move(values)) {}

const std::string& Config::text(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end())
    throw UserError(fmt::format("the configuration ({}) has no parameter '{}'", to_text(), name));
  return found->second;
}

int64_t Config::number(const std::string& name) const {
  const std::string& value = text(name);
  int64_t result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc() || end != value.data() + value.size())
    throw UserError(fmt::format("parameter '{}' is '{}', not a number", name, value));
  return result;
}

bool Config::flag(const std::string& name) const {
  const int64_t value = number(name);
  if (value != 0 && value != 1) throw UserError(fmt::format("parameter '{}' is {}, not 0 or 1", name, value));
  return value == 1;
}

std::vector<std::string> Config::order(const std::string& name) const {
  const std::string& value = text(name);
  std::vector<std::string> items;
  for (size_t begin = 0; begin <= value.size();) {
    const size_t end = std::min(value.find('-', begin), value.size());
    items.push_back(value.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

std::string Config::to_text() const { return attune::to_text(values_); }

}  // namespace v1
}  // namespace attune
