#include "providers/generated/sweep_values.h"

#include <algorithm>

namespace attune::generated {

std::vector<int64_t> numbers_in(const std::vector<Config>& configs, const std::string& key, std::set<int64_t> values) {
  for (const Config& config : configs) values.insert(std::stoll(config.at(key)));
  return {values.begin(), values.end()};
}

std::vector<std::string> texts_in(const std::vector<Config>& configs, const std::string& key) {
  std::vector<std::string> values;
  for (const Config& config : configs)
    if (std::ranges::find(values, config.at(key)) == values.end()) values.push_back(config.at(key));
  return values;
}

}  // namespace attune::generated
