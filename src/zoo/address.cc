#include "zoo/address.h"

#include "zoo/zoo.h"

#include <charconv>

namespace attune::zoo {
namespace {

int64_t parse_count(std::string_view text, const std::string& address) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    throw UserError("'{}' in '{}' is not a non-negative number", text, address);
  return number;
}

void set_option(std::string_view part, const std::string& address, Options& options) {
  const size_t equals = part.find('=');
  const std::string_view key = part.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
  if (key == "batch")
    options.batch = parse_count(value, address);
  else if (key == "seq")
    options.sequence = parse_count(value, address);
  else if (key == "size")
    options.image_size = parse_count(value, address);
  else if (key == "seed")
    options.seed = static_cast<uint64_t>(parse_count(value, address));
  else
    throw UserError("'{}' in '{}' is not an option of the zoo; use batch=N, seq=N, size=N or seed=N", part, address);
}

}  // namespace

Graph build_address(const std::string& address) {
  std::string_view rest = std::string_view(address).substr(std::string_view("zoo:").size());
  const auto next_part = [&] {
    const size_t colon = rest.find(':');
    const std::string_view part = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    return part;
  };
  const std::string_view name = next_part();
  Options options;
  while (!rest.empty()) set_option(next_part(), address, options);
  return build(name, options);
}

}  // namespace attune::zoo
