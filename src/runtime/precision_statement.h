// What a session says of the precision it computes in, when that was chosen under an accuracy budget. Plans keep it.
#pragma once

#include "base/statistics.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace attune {

enum class InputOrigin : uint8_t { given, random };

struct PrecisionStatement {
  std::string precision;  // "f32", "bf16" (every product) or "mixed"
  double budget = 0;      // the error that was allowed
  double error = 0;       // the largest that was measured, on all inputs below; of f32 itself 0
  std::string metric;     // what error means
  int64_t products = 0;   // that could compute in bf16
  int64_t lowered = 0;    // that do
  int64_t operators = 0;  // nodes of the graph that give bf16, casts not counted
  InputOrigin inputs = InputOrigin::random;
  int64_t input_sets = 0;           // that the choice was made on
  std::vector<uint64_t> seeds;      // of these, where random,
  std::vector<uint64_t> new_seeds;  // and of those that confirmed it
  double speedup = 1;               // over f32, in runs of both in turn; 1: not compared
  Interval speedup_interval{1, 1};  // 95 %
  std::string reason;               // why this precision, in words
  std::vector<std::string> kept;    // names of the products that stay in f32, where some do not
};

/// One line for people.
std::string to_text(const PrecisionStatement& statement);

nlohmann::ordered_json to_json(const PrecisionStatement& statement);
/// Throws nlohmann's exceptions for what to_json does not write.
PrecisionStatement read_precision_statement(const nlohmann::ordered_json& json);

}  // namespace attune
