#include "tune/search/replay.h"

#include "base/error.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <sstream>

namespace attune::tune {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> parts(1);
  for (const char c : line)
    if (c == ',')
      parts.emplace_back();
    else if (c != '\r')
      parts.back() += c;
  return parts;
}

std::string read_text(const std::string& path) {
  // gzread passes plain files through.
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw UserError("the table '{}' cannot be opened", path);
  std::string text;
  char buffer[1 << 16];
  int count = 0;
  while ((count = gzread(file.get(), buffer, sizeof(buffer))) > 0) text.append(buffer, static_cast<size_t>(count));
  if (count < 0) throw UserError("the table '{}' is damaged: its compressed data end early or do not fit", path);
  return text;
}

}  // namespace

ReplayTable ReplayTable::read(const std::string& path) { return parse(read_text(path), path); }

ReplayTable ReplayTable::parse(const std::string& text, const std::string& where) {
  ReplayTable table;
  std::vector<std::string> names;
  std::vector<Config> configs;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> parts = split(line);
    if (names.empty()) {
      names = std::move(parts);
      continue;
    }
    if (parts.size() != names.size())
      throw UserError("{}:{}: {} values for {} columns", where, number, parts.size(), names.size());
    Config config;
    for (size_t i = 0; i + 1 < parts.size(); ++i)
      if (!parts[i].empty()) config.emplace(names[i], parts[i]);
    Observation result{configs.size(), Outcome::ok, 0};
    const std::string& last = parts.back();
    if (const auto outcome = outcome_of_name(last)) {
      result.outcome = *outcome;
    } else {
      const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), result.cost);
      if (error != std::errc() || end != last.data() + last.size() || !(result.cost > 0) || !std::isfinite(result.cost))
        throw UserError("{}:{}: '{}' is neither a time above zero nor an outcome", where, number, last);
      table.sorted_.push_back(result.cost);
    }
    configs.push_back(std::move(config));
    table.results_.push_back(result);
  }
  if (table.sorted_.empty()) throw UserError("the table '{}' has no configuration that worked", where);
  std::ranges::sort(table.sorted_);
  table.best_ = table.sorted_.front();
  table.space_ = Space::of_list(configs);
  return table;
}

Observation ReplayTable::measure(uint64_t point) const { return results_.at(point); }

}  // namespace attune::tune
