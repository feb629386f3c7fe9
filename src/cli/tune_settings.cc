#include "cli/tune_settings.h"

#include "base/error.h"
#include "base/suggest.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace attune::cli {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kKeys[] = {"job_type", "tuning_time_limit", "max_tuning_count", "search_algorithm",
                                      "target_metric"};

Json parse_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UserError("cannot read --config '{}'", path);
  try {
    return Json::parse(file, nullptr, true, true);  // with exceptions and comments
  } catch (const Json::exception& error) {
    throw UserError("--config '{}' is no JSON: {}", path, error.what());
  }
}

std::string text_of(const Json& value, std::string_view key, const std::string& path) {
  if (value.is_string()) return value;
  if (key == "job_type" && value.is_number_integer()) return std::to_string(value.get<int64_t>());
  throw UserError("'{}' in --config '{}' is {}; it has to be a text", key, path, value.dump());
}

double seconds_of(const Json& value, const std::string& path) {
  constexpr double kMost = 30 * 24 * 3600.0;
  if (value.is_number() && value.get<double>() > 0 && value.get<double>() <= kMost) return value;
  throw UserError("'tuning_time_limit' in --config '{}' is {}; it has to be a number of seconds, {:.0f} at most", path,
                  value.dump(), kMost);
}

int64_t count_of(const Json& value, const std::string& path) {
  if (value.is_number_integer() && value.get<int64_t>() >= 1) return value;
  throw UserError("'max_tuning_count' in --config '{}' is {}; it has to be a whole number, 1 at least", path,
                  value.dump());
}

}  // namespace

void TuneSettings::complete_with(const TuneSettings& other) {
  if (!job) job = other.job;
  if (!budget_s) budget_s = other.budget_s;
  if (!trials) trials = other.trials;
  if (!algorithm) algorithm = other.algorithm;
  if (!metric) metric = other.metric;
}

std::string job_of_type(const std::string& type) {
  if (type == "1" || type == "operator" || type == "opat") return "opat";
  if (type == "2" || type == "subgraph" || type == "sgat") return "sgat";
  if (type == "all") return "all";
  if (type == "3" || type == "gradient" || type == "gdat")
    throw UnsupportedError("job type {} (gdat, gradients) is not there; 1 (opat) and 2 (sgat) are", type);
  throw UserError("there is no job type '{}'; there are 1 (operator, opat), 2 (subgraph, sgat) and all", type);
}

TuneSettings read_tune_settings(const std::string& path) {
  const Json json = parse_file(path);
  if (!json.is_object()) throw UserError("--config '{}' is no JSON object", path);
  TuneSettings settings;
  for (const auto& [key, value] : json.items()) {
    if (key == "job_type") {
      settings.job = job_of_type(text_of(value, key, path));
    } else if (key == "tuning_time_limit") {
      settings.budget_s = seconds_of(value, path);
    } else if (key == "max_tuning_count") {
      settings.trials = count_of(value, path);
    } else if (key == "search_algorithm") {
      settings.algorithm = text_of(value, key, path);
    } else if (key == "target_metric") {
      settings.metric = text_of(value, key, path);
    } else {
      const auto meant = nearest(key, kKeys);
      throw UserError("--config '{}' has an unknown key '{}'{}; there are {}", path, key,
                      meant ? fmt::format(", did you mean '{}'?", *meant) : "", fmt::join(kKeys, ", "));
    }
  }
  return settings;
}

}  // namespace attune::cli
