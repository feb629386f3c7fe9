#include "space/encoding.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace attune {
namespace {

float natural_number(double value) { return static_cast<float>(std::copysign(std::log2(1 + std::abs(value)), value)); }

float ordered_number(const Parameter& parameter, size_t choice, Scale scale) {
  if (scale == Scale::unit) {
    const size_t last = parameter.texts.size() - 1;
    return last == 0 ? 0.0f : static_cast<float>(choice) / static_cast<float>(last);
  }
  return natural_number(static_cast<double>(parameter.numbers[choice]));
}

}  // namespace

Encoding::Encoding(const Space& space, Scale scale) : parameters_(space.parameters()) {
  const float absent = scale == Scale::unit ? 0.0f : std::numeric_limits<float>::quiet_NaN();
  for (size_t p = 0; p < space.parameters().size(); ++p) {
    const Parameter& parameter = *space.parameters()[p];
    const size_t choices = parameter.texts.size(), first = names_.size();
    std::vector<std::vector<float>> rows(choices + 1);
    const auto add_column = [&](std::string name, const auto& number_of) {
      for (size_t choice = 0; choice < choices; ++choice) rows[choice].push_back(static_cast<float>(number_of(choice)));
      names_.push_back(std::move(name));
    };
    switch (parameter.kind) {
      case ParameterKind::ordinal:
      case ParameterKind::power_of_two:
        add_column(parameter.name, [&](size_t choice) { return ordered_number(parameter, choice, scale); });
        break;
      case ParameterKind::boolean: add_column(parameter.name, [&](size_t choice) { return choice; }); break;
      case ParameterKind::categorical:
        for (size_t value = 0; value < choices; ++value)
          add_column(parameter.name + "=" + parameter.texts[value], [&](size_t choice) { return choice == value; });
        break;
      case ParameterKind::permutation:
        for (const auto& item : parameter.items) {
          const auto positions = parameter.positions(item);
          const double last = std::max<double>(1, static_cast<double>(parameter.items.size()) - 1);
          add_column(parameter.name + "[" + item + "]",
                     [&](size_t choice) { return static_cast<double>(positions[choice]) / last; });
        }
        break;
    }
    rows[choices].assign(names_.size() - first, absent);
    if (scale == Scale::unit && space.is_conditional(p)) {
      add_column(parameter.name + "?", [](size_t) { return 1; });
      rows[choices].push_back(0);
    }
    rows_.push_back(std::move(rows));
    columns_.resize(names_.size(), p);
  }
}

std::vector<float> Encoding::encode(const Point& point) const {
  std::vector<float> result;
  result.reserve(names_.size());
  for (size_t p = 0; p < rows_.size(); ++p) {
    const auto& row = point[p] == kAbsent ? rows_[p].back() : rows_[p][point[p]];
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

std::vector<float> Encoding::encode(const Config& config) const {
  std::vector<float> result;
  for (size_t p = 0; p < rows_.size(); ++p) {
    std::vector<float> row(rows_[p].back().size(), std::numeric_limits<float>::quiet_NaN());
    if (const auto entry = config.find(parameters_[p]->name); entry != config.end()) {
      double value = 0;
      const char* end = entry->second.data() + entry->second.size();
      if (const auto known = parameters_[p]->find(entry->second))
        row = rows_[p][*known];
      else if (parameters_[p]->is_ordered() && std::from_chars(entry->second.data(), end, value).ptr == end)
        row[0] = natural_number(value);
    }
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

}  // namespace attune
