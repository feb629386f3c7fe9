// What tuning a function of the user's found, by shape: the file record.json and the choice of a configuration out of
// it.
#pragma once

#include "bank/outcome.h"
#include "bank/record.h"
#include "job/function/tunable_function.h"

#include <filesystem>
#include <optional>

namespace attune {

struct FunctionTrial {
  Config config;
  Outcome outcome = Outcome::ok;
  std::string message;
  Ratio ratio;  // time over that of the default: below 1 is faster
  double time_ns = 0;
  int pairs = 0;
  bool is_final = false;  // measured once more among the best
};

struct ShapeRecord {
  Dims shape;
  double weight = 1;
  Config standard;  // the default
  double default_ns = 0;
  std::vector<FunctionTrial> trials;  // the default first
  Config best;                        // the default where nothing was faster beyond noise
  Ratio ratio;
  double best_ns = 0;

  const FunctionTrial* find(const Config& config) const;
};

struct FunctionRecord {
  std::string name, version;
  std::vector<std::string> dims;
  std::string device;  // device_text()
  std::string tool_version;
  std::vector<ShapeRecord> shapes;
  /// One configuration for every shape, where one was faster than the defaults over all of them.
  std::optional<Config> overall;
  double overall_ratio = 1;  // weighted geometric mean of its ratios
};

std::string to_json_text(const FunctionRecord& record);
/// Throws UserError that names `where` for what is not such a record.
FunctionRecord parse_function_record(const std::string& text, const std::string& where);
void save_function_record(const FunctionRecord& record, const std::filesystem::path& path);
FunctionRecord load_function_record(const std::filesystem::path& path);

enum class FunctionMatch : uint8_t { exact, nearest, overall, standard };

struct FunctionChoice {
  Config config;
  FunctionMatch match = FunctionMatch::standard;
  Dims from;        // the measured shape: of exact and nearest
  std::string why;  // in words
};

/// Throws UserError for the record of another function.
void check_record(const FunctionRecord& record, const TunableFunction& function);

/// For a shape that was measured, its best; else that of the nearest measured shape (by the logarithms of dims) where
/// it is valid for this one; else the overall one; else the default. What was measured on another device, or of another
/// version of the function, is not used.
FunctionChoice choose_config(const FunctionRecord& record, const TunableFunction& function, const Dims& shape);

}  // namespace attune
