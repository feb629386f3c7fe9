#include "providers/generated/vector_parameters.h"

#include "providers/generated/vector_operands.h"

#include <charconv>

namespace attune::generated {

Choice lanes_choice() {
  Choice choice{"lanes", {}};
  for (const int lanes : codegen::lane_choices(usable_isa())) choice.values.push_back(std::to_string(lanes));
  return choice;
}

Choice stores_choice(int64_t output_bytes) {
  if (exceeds_caches(output_bytes)) return {"stores", {"past_cache", "cached"}};
  return {"stores", {"cached", "past_cache"}};
}

int64_t Parameters::number(const std::string& name) const {
  const std::string& text = config_.at(name);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw UserError("parameter {} is '{}', expected a number", name, text);
  return value;
}

codegen::Stores Parameters::stores() const {
  return has("stores") && text("stores") == "past_cache" ? codegen::Stores::past_cache : codegen::Stores::cached;
}

}  // namespace attune::generated
