#include "codegen/text.h"

#include <fmt/core.h>

#include <cmath>

namespace attune::codegen {

std::string float_literal(float value) {
  if (std::isnan(value)) return "__builtin_nanf(\"\")";
  if (std::isinf(value)) return value > 0 ? "__builtin_inff()" : "(-__builtin_inff())";
  const bool whole = value == std::floor(value) && std::abs(value) < 1e6f;
  const std::string text = whole ? fmt::format("{:.1f}f", value) : fmt::format("{:a}f", value);
  return std::signbit(value) ? "(" + text + ")" : text;
}

std::string header_comment(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    out += "// ";
    for (const char c : line) out += c >= ' ' && c <= '~' && c != '\\' ? c : '?';
    out += '\n';
  }
  return out;
}

std::string fill_in(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string out;
  while (!text.empty()) {
    const size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    bool replaced = false;
    for (const auto& [name, value] : values) {
      if (text.size() < name.size() + 2 || text.substr(1, name.size()) != name || text[name.size() + 1] != '}')
        continue;
      out += value;
      text.remove_prefix(name.size() + 2);
      replaced = true;
      break;
    }
    if (replaced) continue;
    out += '{';
    text.remove_prefix(1);
  }
  return out;
}

}  // namespace attune::codegen
