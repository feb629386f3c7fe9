#include "providers/generated/config_values.h"

#include "base/error.h"

#include <charconv>

namespace attune::generated {
namespace {

int64_t number_after(std::string_view text, const Config& config) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw UserError("'{}' is not a number in '{}'", text, to_text(config));
  return value;
}

}  // namespace

std::string_view text_of(const Config& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end()) throw UserError("'{}' lacks {}", to_text(config), key);
  return found->second;
}

int64_t number_of(const Config& config, const char* key, int64_t least) {
  const int64_t value = number_after(text_of(config, key), config);
  if (value < least) throw UserError("{} is {}, expected at least {}", key, value, least);
  return value;
}

/// "6x64" → 6, 64.
std::pair<int64_t, int64_t> pair_of(const Config& config, const char* key) {
  const std::string_view text = text_of(config, key);
  const size_t x = text.find('x');
  if (x == std::string_view::npos) throw UserError("{} is '{}', expected ROWSxCOLUMNS", key, text);
  return {number_after(text.substr(0, x), config), number_after(text.substr(x + 1), config)};
}

}  // namespace attune::generated
