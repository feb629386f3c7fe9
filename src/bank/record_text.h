// The one canonical text of a record, a line of JSON with sorted fields, and the id that is its SHA-256. Equal records
// have equal ids wherever they were stored, so the union of banks needs no order and no coordination.
#pragma once

#include "bank/record.h"

#include <string>
#include <string_view>
#include <variant>

namespace attune {

/// Everything but the origin.
std::string record_text(const Record& record);
/// 64 hexadecimal digits: the SHA-256 of record_text().
std::string record_id(const Record& record);

/// Why a text is not a record that this version understands.
enum class SkipReason : uint8_t { damaged, newer_schema, unknown_field, invalid };
std::string_view skip_reason_text(SkipReason reason);

struct Skip {
  SkipReason reason = SkipReason::damaged;
  std::string detail;
};

/// The record whose record_text() is `text`, byte for byte.
std::variant<Record, Skip> parse_record(std::string_view text);

/// A configuration as JSON, the form in which it is stored: '{"impl":"jit","tile":"12x32"}'.
std::string config_json(const Config& config);
/// Throws UserError for a text that config_json() did not write.
Config config_of_json(std::string_view text);

}  // namespace attune
