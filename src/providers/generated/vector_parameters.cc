#include "providers/generated/vector_parameters.h"

#include "providers/generated/vector_operands.h"

#include <charconv>

namespace attune::generated {

std::vector<int64_t> lane_values() {
  const auto lanes = codegen::lane_choices(usable_isa());
  return {lanes.begin(), lanes.end()};
}

std::string usual_stores(const TensorSpec& output) {
  return exceeds_caches(storage_bytes(output).value_or(0)) ? "past_cache" : "cached";
}

Config with(Config config, const Config& changes) {
  for (const auto& [name, value] : changes) config[name] = value;
  return config;
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
