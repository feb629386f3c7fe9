// A record: one trial of one configuration, with its evidence. Records are never changed; banks are sets of them.
#pragma once

#include "bank/key.h"
#include "bank/outcome.h"
#include "kernel/config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attune {

/// Time over the time of the default measured beside it: below 1 is faster. Absolute times drift, this does not.
struct Ratio {
  double value = 1, low = 1, high = 1;  // low to high: 95 % interval
  bool operator==(const Ratio&) const = default;
};

/// How a bank came by a record. A property of the bank, not of the record: it is no part of record_id().
enum class Origin : uint8_t { local, imported };

struct Record {
  BankKey key;
  std::string provider;
  std::string environment;  // Provider::environment() of this provider alone
  Config config;
  Outcome outcome = Outcome::ok;
  std::vector<double> samples_ns;   // raw, in the order of measurement
  std::optional<Ratio> ratio;       // none for failures
  std::optional<double> max_error;  // none: not compared; infinity: not a number where there should be one
  double tolerance = 0;             // what max_error was held against
  std::string message;              // of a failure: the end of its stderr, a compiler's complaint
  int64_t measured_at = 0;          // seconds since 1970
  std::string session;              // names the run of the tuner
  std::string tool_version;
  Origin origin = Origin::local;

  bool operator==(const Record&) const = default;
};

/// Measured, compared with the reference and close enough: only such a record may be applied.
bool is_verified(const Record& record);

/// What is wrong with the record, such as samples that are no times; nothing when it may be stored.
std::optional<std::string> find_flaw(const Record& record);

}  // namespace attune
