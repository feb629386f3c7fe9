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
std::string json_text(const std::string& text) {
  try {
    return Json(text).dump();
  } catch (const Json::type_error&) {
    std::string hex;
    for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return fmt::format(R"({{"{}":"{}"}})", kBytes, hex);
  }
}

/// The shortest digits that read back as this number, as most languages write it; the JSON library does not always find
/// them. JSON has no infinity.
std::string json_text(double value) {
  if (std::isinf(value)) return R"("inf")";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string json_text(const std::optional<double>& value) { return value ? json_text(*value) : "null"; }

std::string json_text(const std::optional<Ratio>& ratio) {
  if (!ratio) return "null";
  return fmt::format(R"({{"high":{},"low":{},"value":{}}})", json_text(ratio->high), json_text(ratio->low),
                     json_text(ratio->value));
}

std::string json_text(const std::vector<double>& values) {
  std::string text = "[";
  for (const double value : values) text += (text.size() > 1 ? "," : "") + json_text(value);
  return text + "]";
}

std::string text_of_json(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  const std::string hex = value.at(kBytes).get<std::string>();
  std::string text;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return text;
}

double size_of_json(const Json& value) {
  return value == "inf" ? std::numeric_limits<double>::infinity() : value.get<double>();
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

std::string record_text(const Record& record) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view value) {
    text += fmt::format(R"({}"{}":{})", text.empty() ? "{" : ",", name, value);
  };
  add("config", config_json(record.config));
  add("device", json_text(record.key.device));
  add("environment", json_text(record.environment));
  add("max_error", json_text(record.max_error));
  add("measured_at", std::to_string(record.measured_at));
  add("message", json_text(record.message));
  add("mode", json_text(record.key.mode));
  add("outcome", fmt::format(R"("{}")", outcome_name(record.outcome)));
  add("provider", json_text(record.provider));
  add("ratio", json_text(record.ratio));
  add("samples_ns", json_text(record.samples_ns));
  add("schema", std::to_string(kSchema));
  add("session", json_text(record.session));
  add("threads", std::to_string(record.key.threads));
  add("tolerance", json_text(record.tolerance));
  add("tool", json_text(record.tool_version));
  add("workload", json_text(record.key.workload));
  return text + "}";
}

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

std::string config_json(const Config& config) {
  Json json = Json::object();
  for (const auto& [name, value] : config) json[name] = value;
  return json.dump();
}

Config config_of_json(std::string_view text) {
  try {
    return Json::parse(text).get<Config>();
  } catch (const Json::exception& error) {
    throw UserError("a configuration is not written as JSON: {}", error.what());
  }
}

}  // namespace attune
