// attune bank prune and verify: keeping a bank in order.
#include "bank/device_fingerprint.h"
#include "bank/location.h"
#include "bank/record_text.h"
#include "cli/bank_arguments.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <ctime>
#include <memory>

namespace attune::cli {
namespace {

struct KeepArguments : BankArguments {
  std::string older_than;
  bool stale = false;
  bool damaged = false;
  bool dry_run = false;
};

/// "90d" or "12h" in seconds.
int64_t parse_age(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  constexpr int64_t kHour = 3600, kMost = int64_t{1} << 40;
  if (error != std::errc() || number < 0 || number > kMost || (unit != "d" && unit != "h"))
    throw UserError("--older-than '{}' is no age; write days or hours, such as 90d or 12h", text);
  return number * (unit == "d" ? 24 * kHour : kHour);
}

/// A record of this device that was measured in an environment which is gone: it never applies again.
bool is_stale(const Record& record, const std::string& device, const EnvironmentOf& environment_of) {
  return record.key.device == device && environment_of(record.provider) != record.environment;
}

struct Selection {
  std::vector<std::string> ids;
  Removal removal = Removal::for_good;
};

Selection select(const Bank& bank, const KeepArguments& arguments) {
  RecordFilter filter = filter_of(arguments);
  if (!arguments.older_than.empty()) filter.measured_before = std::time(nullptr) - parse_age(arguments.older_than);
  const bool has_filter =
      !filter.workload.empty() || !filter.op.empty() || filter.outcome || filter.measured_before || arguments.stale;
  if (arguments.damaged) {
    if (has_filter) throw UserError("--damaged removes whatever is damaged; leave out the other conditions");
    return {bank.verify().damaged_ids, Removal::until_merged};
  }
  if (!has_filter)
    throw UserError("what shall be removed? give --older-than, --stale, --damaged, --outcome, --op or --workload");
  Selection selection;
  const std::string device = device_text();
  const EnvironmentOf present = present_environments();
  bank.each(filter, [&](const Record& record) {
    if (!arguments.stale || is_stale(record, device, present)) selection.ids.push_back(record_id(record));
  });
  return selection;
}

ExitCode prune(const KeepArguments& arguments) {
  require_given_bank(arguments);
  const auto bank = open_one_bank(arguments.bank, BankAccess::read_write);
  const Selection selection = select(*bank, arguments);
  const auto count =
      arguments.dry_run ? static_cast<int64_t>(selection.ids.size()) : bank->remove(selection.ids, selection.removal);
  Report report;
  report.tables.push_back({"",
                           {{"bank"}, {arguments.dry_run ? "would be removed" : "removed", Align::right}},
                           {{bank->name(), std::to_string(count)}}});
  report.json = {{"bank", bank->name()}, {"removed", arguments.dry_run ? 0 : count}, {"selected", selection.ids}};
  print(report, arguments.format);
  return ExitCode::ok;
}

ExitCode verify(const KeepArguments& arguments) {
  require_given_bank(arguments);
  const auto bank = open_one_bank(arguments.bank, BankAccess::read_write);
  const BankHealth health = bank->verify();
  Report report;
  report.tables.push_back({"",
                           {{"bank"}, {"records", Align::right}, {"problems", Align::right}},
                           {{bank->name(), std::to_string(health.records), std::to_string(health.problems.size())}}});
  if (!health.problems.empty()) {
    Table problems{"Problems", {{"problem"}}, {}};
    for (const std::string& problem : health.problems) problems.rows.push_back({problem});
    report.tables.push_back(std::move(problems));
  }
  report.json = {{"bank", bank->name()}, {"records", health.records}, {"problems", health.problems}};
  print(report, arguments.format);
  if (!health.damaged_ids.empty())
    write_stderr("'attune bank prune --damaged' removes the damaged records; merging a whole copy brings them back\n");
  return health.problems.empty() ? ExitCode::ok : ExitCode::usage;
}

}  // namespace

Action add_bank_prune(CLI::App& command) {
  auto arguments = std::make_shared<KeepArguments>();  // shared: CLI11 writes it, the action reads it
  command.add_option("--older-than", arguments->older_than, "Only records older than this, such as 90d or 12h");
  command.add_flag("--stale", arguments->stale,
                   "Only records of this device whose provider has another environment now, or is gone");
  command.add_flag("--damaged", arguments->damaged, "Only records that are not as they were written");
  command.add_flag("--dry-run", arguments->dry_run, "Only say how many there are");
  add_bank_flags(command, *arguments);
  add_filter_flags(command, *arguments);
  return [arguments] { return prune(*arguments); };
}

Action add_bank_verify(CLI::App& command) {
  auto arguments = std::make_shared<KeepArguments>();
  add_bank_flags(command, *arguments);
  return [arguments] { return verify(*arguments); };
}

}  // namespace attune::cli
