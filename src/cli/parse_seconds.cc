#include "cli/parse_seconds.h"

#include "base/error.h"

namespace attune::cli {

double parse_seconds(const std::string& text) {
  size_t end = 0;
  double number = -1;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception&) {}
  const std::string unit = number < 0 ? "" : text.substr(end);
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (!(number > 0) || scale == 0 || !(number * scale <= 30 * 24 * 3600.0))
    throw UserError("--budget '{}' is not a time such as 60s, 5m or 1h", text);
  return number * scale;
}

}  // namespace attune::cli
