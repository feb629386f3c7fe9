// One named parameter of a space with the values it may take.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attune {

/// Which of its values a parameter has; kAbsent where its condition (Space::only_if) does not hold.
using ValueIndex = uint16_t;
inline constexpr ValueIndex kAbsent = UINT16_MAX;

/// A configuration as one choice for each parameter, in the order they were declared.
using Point = std::vector<ValueIndex>;

enum class ParameterKind : uint8_t { ordinal, power_of_two, categorical, boolean, permutation };

struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::ordinal;
  std::vector<std::string> texts;  // one for each choice
  /// What constraints see of each choice: the number itself, 0 and 1 of a boolean, the position of other texts.
  std::vector<int64_t> numbers;
  std::vector<std::string> items;  // of a permutation, in the order they were given

  bool is_ordered() const { return kind == ParameterKind::ordinal || kind == ParameterKind::power_of_two; }
  std::optional<ValueIndex> find(const std::string& text) const;
  /// Where each choice of a permutation puts the item: 0 is first, or outermost.
  std::vector<int64_t> positions(const std::string& item) const;
};

/// Each of these throws UserError for values that cannot be: none, doubles, more than fit into a ValueIndex.
Parameter make_ordinal(std::string name, std::vector<int64_t> values);
Parameter make_power_of_two(std::string name, int64_t low, int64_t high);
Parameter make_boolean(std::string name);
Parameter make_categorical(std::string name, std::vector<std::string> texts);
/// Every order of the items, written "m-n-k".
Parameter make_permutation(std::string name, std::vector<std::string> items);

}  // namespace attune
