#include "cli/bank_arguments.h"

#include "bank/record_text.h"
#include "base/statistics.h"
#include "base/suggest.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <ctime>
#include <filesystem>

namespace attune::cli {

void add_bank_flags(CLI::App& command, BankArguments& arguments) {
  command.add_option("--bank", arguments.bank,
                     "File of the bank (default: TUNE_BANK_PATH, else attune/bank.sqlite in the user's data folder)");
  add_format(command, arguments.format);
}

void add_filter_flags(CLI::App& command, BankArguments& arguments) {
  command.add_option("--workload", arguments.workload, "Only workloads whose text contains this");
  command.add_option("--op", arguments.op, "Only this operator, such as Conv");
  command.add_option("--outcome", arguments.outcome,
                     fmt::format("Only this outcome: {}", fmt::join(outcome_names(), ", ")));
}

RecordFilter filter_of(const BankArguments& arguments) {
  RecordFilter filter{.workload = arguments.workload, .op = arguments.op};
  if (arguments.outcome.empty()) return filter;
  filter.outcome = outcome_of_name(arguments.outcome);
  if (filter.outcome) return filter;
  const auto meant = nearest(arguments.outcome, outcome_names());
  throw UserError("unknown outcome '{}'; {}", arguments.outcome,
                  meant ? fmt::format("did you mean '{}'?", *meant)
                        : fmt::format("choose one of {}", fmt::join(outcome_names(), ", ")));
}

void require_given_bank(const BankArguments& arguments) {
  std::error_code error;
  if (!arguments.bank.empty() && !std::filesystem::exists(arguments.bank, error))
    throw UserError("there is no bank '{}'; check the path of --bank", arguments.bank);
}

std::string short_id(const Record& record) { return record_id(record).substr(0, 12); }

std::string ratio_text(const Record& record) {
  if (!record.ratio) return "";
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", record.ratio->value, record.ratio->low, record.ratio->high);
}

std::string time_text(int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (gmtime_r(&time, &parts) == nullptr) return std::to_string(seconds);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min);
}

double median_us(const Record& record) {
  return record.samples_ns.empty() ? 0 : summarize_samples(record.samples_ns).median / 1e3;
}

nlohmann::ordered_json json_of(const Record& record) {
  nlohmann::ordered_json json = {{"rid", record_id(record)},
                                 {"origin", record.origin == Origin::local ? "local" : "imported"}};
  json.update(nlohmann::ordered_json::parse(record_text(record)));
  return json;
}

}  // namespace attune::cli
