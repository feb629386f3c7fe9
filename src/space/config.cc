#include "space/config.h"

namespace attune {

std::string to_text(const Config& config) {
  std::string out;
  for (const auto& [name, value] : config) out += (out.empty() ? "" : ", ") + name + "=" + value;
  return out;
}

}  // namespace attune
