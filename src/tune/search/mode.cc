#include "tune/search/mode.h"

#include "base/error.h"

#include <cctype>

namespace attune::tune {

TuneMode parse_tune_mode(std::string_view text) {
  TuneMode mode;
  bool is_off = false;
  std::string word;
  const auto take = [&] {
    bool* target = word == "RL" ? &mode.uses_rl : word == "GA" ? &mode.uses_ga : word == "NO_TUNE" ? &is_off : nullptr;
    if (target == nullptr)
      throw UserError("'{}' in tune mode '{}' is not a mode; give NO_TUNE, RL, GA or RL,GA", word, text);
    if (*target) throw UserError("tune mode '{}' has '{}' twice; give NO_TUNE, RL, GA or RL,GA", text, word);
    *target = true;
    word.clear();
  };
  for (const char c : text) {
    if (c == ',')
      take();
    else if (c != ' ')
      word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  take();
  if (is_off && !mode.is_off())
    throw UserError("tune mode '{}' both tunes and does not; give NO_TUNE, RL, GA or RL,GA", text);
  return mode;
}

std::string_view searcher_for(const TuneMode& mode, OperatorKind kind) {
  if (kind == OperatorKind::cube) return mode.uses_ga ? "genetic" : "";
  return mode.uses_rl ? "rl" : "";
}

}  // namespace attune::tune
