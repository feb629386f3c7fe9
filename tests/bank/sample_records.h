// Records for tests: plausible, and different wherever their numbers are.
#pragma once

#include "bank/bank.h"
#include "bank/record_text.h"
#include "base/random.h"

#include <fmt/core.h>

#include <set>

namespace attune {

inline BankKey sample_key(int number = 0) {
  return {.device =
              "cpu vendor=GenuineIntel family=6 model=143 stepping=8; isa=avx2 avx512f; caches=L1d:49152/2; "
              "cores=2; hypervisor=yes",
          .workload = fmt::format("Conv@17(f32[1x{}x56x56]@nhwc, f32[64x64x3x3]*) -> (f32[1x64x56x56]@nhwc) "
                                  "{{pads=[1, 1, 1, 1]}}",
                                  number),
          .mode = "high_precision",
          .threads = 2};
}

inline Record sample_record(int number = 0) {
  Record record;
  record.key = sample_key();
  record.provider = "onednn";
  record.environment = "oneDNN 2.6.3, isa avx512_core";
  record.config = {{"impl", "brgconv:avx512_core"}, {"variant", std::to_string(number)}};
  record.samples_ns = {1000.5 + number, 1001.25, 999.0625};
  record.ratio = Ratio{0.8, 0.75, 0.85};
  record.max_error = 1e-6;
  record.tolerance = 1e-5;
  record.measured_at = 1'700'000'000;
  record.session = "s1";
  record.tool_version = "0.1.0";
  return record;
}

/// Any outcome, any of a few keys.
inline Record random_record(Random& random) {
  Record record = sample_record(static_cast<int>(random.below(1000)));
  record.key = sample_key(static_cast<int>(random.below(5)));
  record.outcome = static_cast<Outcome>(random.below(static_cast<int64_t>(outcome_names().size())));
  record.samples_ns.clear();
  for (int64_t n = random.below(10) + 1; n > 0; --n) record.samples_ns.push_back(1e6 * random.uniform() + 1);
  const double low = 0.5 + random.uniform() / 2, width = random.uniform() / 4;
  record.ratio = Ratio{low + width / 2, low, low + width};
  record.measured_at += random.below(100);
  record.session = fmt::format("s{}", random.below(4));
  if (record.outcome != Outcome::ok) {
    record.ratio.reset();
    record.max_error.reset();
    record.message = fmt::format("signal {}", random.below(30));
  }
  return record;
}

inline std::set<std::string> ids_of(const Bank& bank) {
  std::set<std::string> ids;
  bank.each({}, [&](const Record& record) { ids.insert(record_id(record)); });
  return ids;
}

/// The environment that sample_record() was measured in.
inline std::optional<std::string> sample_environment(const std::string& provider) {
  return provider == "onednn" ? std::optional(sample_record().environment) : std::nullopt;
}

}  // namespace attune
