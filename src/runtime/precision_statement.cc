#include "runtime/precision_statement.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace attune {
namespace {

std::string inputs_text(const PrecisionStatement& statement) {
  if (statement.inputs == InputOrigin::given) return "on the inputs given";
  return fmt::format("on random inputs (seeds {}{})", fmt::join(statement.seeds, ", "),
                     statement.new_seeds.empty() ? "" : fmt::format("; new {}", fmt::join(statement.new_seeds, ", ")));
}

}  // namespace

std::string to_text(const PrecisionStatement& statement) {
  if (statement.precision == "f32")
    return fmt::format("f32 is kept under an accuracy budget of {:.3g}: {}", statement.budget, statement.reason);
  return fmt::format(
      "bf16 in {} of {} products ({} operators): error {:.3g} of a budget of {:.3g} {}, {:.2f}x ({:.2f} to {:.2f}) as "
      "fast as f32",
      statement.lowered, statement.products, statement.operators, statement.error, statement.budget,
      inputs_text(statement), statement.speedup, statement.speedup_interval.low, statement.speedup_interval.high);
}

nlohmann::ordered_json to_json(const PrecisionStatement& statement) {
  return {{"precision", statement.precision},
          {"accuracy_budget", statement.budget},
          {"error", statement.error},
          {"metric", statement.metric},
          {"products", statement.products},
          {"bf16_products", statement.lowered},
          {"bf16_operators", statement.operators},
          {"inputs", statement.inputs == InputOrigin::given ? "given" : "random"},
          {"input_sets", statement.input_sets},
          {"seeds", statement.seeds},
          {"new_seeds", statement.new_seeds},
          {"speedup", statement.speedup},
          {"speedup_interval", {statement.speedup_interval.low, statement.speedup_interval.high}},
          {"reason", statement.reason},
          {"f32_products", statement.kept}};
}

PrecisionStatement read_precision_statement(const nlohmann::ordered_json& json) {
  PrecisionStatement statement;
  statement.precision = json.at("precision");
  statement.budget = json.at("accuracy_budget");
  statement.error = json.at("error");
  statement.metric = json.at("metric");
  statement.products = json.at("products");
  statement.lowered = json.at("bf16_products");
  statement.operators = json.at("bf16_operators");
  statement.inputs = json.at("inputs") == "given" ? InputOrigin::given : InputOrigin::random;
  statement.input_sets = json.at("input_sets");
  statement.seeds = json.at("seeds").get<std::vector<uint64_t>>();
  statement.new_seeds = json.at("new_seeds").get<std::vector<uint64_t>>();
  statement.speedup = json.at("speedup");
  statement.speedup_interval = {json.at("speedup_interval").at(0), json.at("speedup_interval").at(1)};
  statement.reason = json.at("reason");
  statement.kept = json.at("f32_products").get<std::vector<std::string>>();
  return statement;
}

}  // namespace attune
