#include "providers/generated/generator_space.h"

namespace attune {

Param GeneratorSpace::add(Param parameter) {
  unconditional_.push_back(parameter);
  return parameter;
}

Param GeneratorSpace::ordinal(std::string name, std::vector<int64_t> values) {
  return add(space_.ordinal(std::move(name), std::move(values)));
}
Param GeneratorSpace::power_of_two(std::string name, int64_t low, int64_t high) {
  return add(space_.power_of_two(std::move(name), low, high));
}
Param GeneratorSpace::boolean(std::string name) { return add(space_.boolean(std::move(name))); }
Param GeneratorSpace::categorical(std::string name, std::vector<std::string> values) {
  return add(space_.categorical(std::move(name), std::move(values)));
}
Param GeneratorSpace::permutation(std::string name, std::vector<std::string> items) {
  return add(space_.permutation(std::move(name), std::move(items)));
}

void GeneratorSpace::only_if(const Param& parameter, const Expr& condition) {
  std::erase_if(unconditional_, [&](const Param& other) { return other.index() == parameter.index(); });
  space_.only_if(parameter, chosen_ ? *chosen_ && condition : condition);
}

void GeneratorSpace::require(const Expr& constraint, std::string why) { space_.require(constraint, std::move(why)); }
void GeneratorSpace::require(const std::vector<Param>& parameters, ExprFunction allowed, const std::string& why) {
  space_.require(parameters, std::move(allowed), why);
}

void GeneratorSpace::finish() {
  if (chosen_)
    for (const Param& parameter : unconditional_) space_.only_if(parameter, *chosen_);
}

}  // namespace attune
