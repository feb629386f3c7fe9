// What the subcommands of `attune bank` share: the list of them, flags, and how records are shown.
#pragma once

#include "bank/bank.h"
#include "cli/output.h"
#include "cli/verbs.h"

#include <string>

namespace attune::cli {

/// As Verb, one level below.
struct BankCommand {
  const char* name;
  const char* summary;
  Action (*add)(CLI::App& command);
};

Action add_bank_list(CLI::App& command);
Action add_bank_best(CLI::App& command);
Action add_bank_show(CLI::App& command);
Action add_bank_export(CLI::App& command);
Action add_bank_import(CLI::App& command);
Action add_bank_merge(CLI::App& command);
Action add_bank_diff(CLI::App& command);
Action add_bank_prune(CLI::App& command);
Action add_bank_verify(CLI::App& command);

struct BankArguments {
  std::string bank;  // --bank
  OutputFormat format = OutputFormat::table;
  std::string workload, op, outcome;  // --workload, --op, --outcome
};

/// Adds --bank and --format.
void add_bank_flags(CLI::App& command, BankArguments& arguments);
/// Adds --workload, --op and --outcome.
void add_filter_flags(CLI::App& command, BankArguments& arguments);
/// Throws UserError for an outcome that does not exist.
RecordFilter filter_of(const BankArguments& arguments);

/// Throws UserError when --bank names a file that is not there: for commands that would show an empty bank instead. The
/// default one may be missing, it comes with the first record.
void require_given_bank(const BankArguments& arguments);

std::string short_id(const Record& record);    // the first 12 digits
std::string ratio_text(const Record& record);  // "0.812 [0.790, 0.835]"
std::string time_text(int64_t seconds);        // "2026-11-15 16:24", UTC
double median_us(const Record& record);        // 0 without samples
/// Every field, the id and the origin included.
nlohmann::ordered_json json_of(const Record& record);

}  // namespace attune::cli
