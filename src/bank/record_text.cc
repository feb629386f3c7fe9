#include "bank/record_text.h"

#include "base/error.h"
#include "base/sha256.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune {
namespace {

using Json = nlohmann::json;  // sorts its fields

constexpr int kSchema = 1;
// Every field of schema 1; the test of unknown fields goes by this list.
constexpr std::string_view kFields[] = {"config",  "device",  "environment", "max_error", "measured_at", "message",
                                        "mode",    "outcome", "provider",    "ratio",     "samples_ns",  "schema",
                                        "session", "threads", "tolerance",   "tool",      "workload"};

constexpr const char* kBytes = "hex";

/// A string; where it is not UTF-8, which JSON cannot hold, an object with its bytes in hexadecimal.
Json json_of_text(const std::string& text) {
  Json value = text;
  try {
    static_cast<void>(value.dump());
    return value;
  } catch (const Json::type_error&) {
    std::string hex;
    for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return {{kBytes, hex}};
  }
}

std::string text_of_json(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  const std::string hex = value.at(kBytes).get<std::string>();
  std::string text;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return text;
}

/// JSON has no infinity.
Json json_of_size(double value) { return std::isinf(value) ? Json("inf") : Json(value); }
double size_of_json(const Json& value) {
  return value == "inf" ? std::numeric_limits<double>::infinity() : value.get<double>();
}

Json json_of_config(const Config& config) {
  Json json = Json::object();
  for (const auto& [name, value] : config) json[name] = value;
  return json;
}

Json json_of(const Record& record) {
  Json json = {{"config", json_of_config(record.config)},
               {"device", json_of_text(record.key.device)},
               {"environment", json_of_text(record.environment)},
               {"max_error", nullptr},
               {"measured_at", record.measured_at},
               {"message", json_of_text(record.message)},
               {"mode", json_of_text(record.key.mode)},
               {"outcome", outcome_name(record.outcome)},
               {"provider", json_of_text(record.provider)},
               {"ratio", nullptr},
               {"samples_ns", record.samples_ns},
               {"schema", kSchema},
               {"session", json_of_text(record.session)},
               {"threads", record.key.threads},
               {"tolerance", record.tolerance},
               {"tool", json_of_text(record.tool_version)},
               {"workload", json_of_text(record.key.workload)}};
  if (record.max_error) json["max_error"] = json_of_size(*record.max_error);
  if (record.ratio)
    json["ratio"] = {{"high", record.ratio->high}, {"low", record.ratio->low}, {"value", record.ratio->value}};
  return json;
}

Record record_of(const Json& json) {
  Record record;
  record.key.device = text_of_json(json.at("device"));
  record.key.workload = text_of_json(json.at("workload"));
  record.key.mode = text_of_json(json.at("mode"));
  record.key.threads = json.at("threads").get<int>();
  record.provider = text_of_json(json.at("provider"));
  record.environment = text_of_json(json.at("environment"));
  record.config = json.at("config").get<Config>();
  const auto outcome = outcome_of_name(json.at("outcome").get<std::string>());
  if (!outcome) throw UserError("outcome {} is unknown", json.at("outcome").dump());
  record.outcome = *outcome;
  record.samples_ns = json.at("samples_ns").get<std::vector<double>>();
  if (const Json& ratio = json.at("ratio"); !ratio.is_null())
    record.ratio =
        Ratio{ratio.at("value").get<double>(), ratio.at("low").get<double>(), ratio.at("high").get<double>()};
  if (const Json& error = json.at("max_error"); !error.is_null()) record.max_error = size_of_json(error);
  record.tolerance = json.at("tolerance").get<double>();
  record.message = text_of_json(json.at("message"));
  record.measured_at = json.at("measured_at").get<int64_t>();
  record.session = text_of_json(json.at("session"));
  record.tool_version = text_of_json(json.at("tool"));
  return record;
}

}  // namespace

std::string record_text(const Record& record) { return json_of(record).dump(); }

std::string record_id(const Record& record) { return sha256_hex(record_text(record)); }

std::string_view skip_reason_text(SkipReason reason) {
  switch (reason) {
    case SkipReason::damaged: return "damaged";
    case SkipReason::newer_schema: return "of a newer schema";
    case SkipReason::unknown_field: return "with a field that this version does not know";
    case SkipReason::invalid: return "with values that no measurement has";
  }
  return "";
}

std::variant<Record, Skip> parse_record(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Skip{SkipReason::damaged, "not a JSON object"};
  const auto schema = json.find("schema");
  if (schema == json.end() || !schema->is_number_integer()) return Skip{SkipReason::damaged, "no schema number"};
  if (schema->get<int64_t>() > kSchema)
    return Skip{SkipReason::newer_schema,
                fmt::format("schema {}, this attune reads up to {}", schema->dump(), kSchema)};
  for (const auto& [name, value] : json.items())
    if (std::ranges::find(kFields, name) == std::end(kFields)) return Skip{SkipReason::unknown_field, name};
  try {
    Record record = record_of(json);
    if (auto flaw = find_flaw(record)) return Skip{SkipReason::invalid, *flaw};
    // Numbers out of range, "1e0" for 1.0: the id would be another one when the record is written again.
    if (record_text(record) != text) return Skip{SkipReason::invalid, "not written the one way that gives its id"};
    return record;
  } catch (const std::exception& error) {  // of the JSON library: a field is missing or of another type
    return Skip{SkipReason::invalid, error.what()};
  }
}

std::string config_json(const Config& config) { return json_of_config(config).dump(); }

Config config_of_json(std::string_view text) {
  try {
    return Json::parse(text).get<Config>();
  } catch (const Json::exception& error) {
    throw UserError("a configuration is not written as JSON: {}", error.what());
  }
}

}  // namespace attune
