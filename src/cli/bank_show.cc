// attune bank list, best and show: what a bank holds.
#include "bank/device_fingerprint.h"
#include "bank/location.h"
#include "bank/select.h"
#include "cli/bank_arguments.h"
#include "job/subgraph.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <tuple>

namespace attune::cli {
namespace {

struct ShowArguments : BankArguments {
  bool everywhere = false;
  std::string id;
};

Report report_of(const std::vector<Record>& records) {
  Report report;
  report.json = nlohmann::ordered_json::array();
  Table table{"",
              {{"id"},
               {"outcome"},
               {"provider"},
               {"config"},
               {"ratio to default"},
               {"median us", Align::right},
               {"samples", Align::right},
               {"threads", Align::right},
               {"mode"},
               {"measured (UTC)"},
               {"workload"}},
              {}};
  for (const Record& record : records) {
    table.rows.push_back({short_id(record), std::string(outcome_name(record.outcome)), record.provider,
                          attune::to_text(record.config), ratio_text(record),
                          record.samples_ns.empty() ? "" : fmt::format("{:.1f}", median_us(record)),
                          std::to_string(record.samples_ns.size()), std::to_string(record.key.threads), record.key.mode,
                          time_text(record.measured_at), record.key.workload});
    report.json.push_back(json_of(record));
  }
  report.tables.push_back(std::move(table));
  return report;
}

ExitCode list_records(const ShowArguments& arguments) {
  const RecordFilter filter = filter_of(arguments);
  require_given_bank(arguments);
  const auto bank = open_bank(arguments.bank, BankAccess::read_write);
  std::vector<Record> records;
  bank->each(filter, [&](const Record& record) { records.push_back(record); });
  std::ranges::stable_sort(records, {}, [](const Record& record) {
    return std::tuple(record.key.workload, record.key.mode, record.key.threads, record.measured_at);
  });
  print(report_of(records), arguments.format);
  write_stderr(fmt::format("{} records in {}\n", records.size(), bank->name()));
  return ExitCode::ok;
}

ExitCode list_best(const ShowArguments& arguments) {
  RecordFilter filter = filter_of(arguments);
  require_given_bank(arguments);
  const auto bank = open_bank(arguments.bank, BankAccess::read_write);
  const size_t everywhere = best_records(*bank, filter, nullptr).size();
  if (!arguments.everywhere) filter.device = device_text();
  const std::vector<Record> records =
      best_records(*bank, filter, arguments.everywhere ? EnvironmentOf() : present_environments());
  print(report_of(records), arguments.format);
  if (records.size() < everywhere)
    write_stderr(
        fmt::format("{} more of other devices or environments, which do not apply here; --everywhere shows them\n",
                    everywhere - records.size()));
  return ExitCode::ok;
}

ExitCode show_record(const ShowArguments& arguments) {
  require_given_bank(arguments);
  const auto bank = open_bank(arguments.bank, BankAccess::read_write);
  const Record record = require_record(*bank, arguments.id);
  const std::string obstacle = why_not_applied(record, device_text(), present_environments());
  Report report;
  report.json = json_of(record);
  report.json["applies_here"] = obstacle.empty();
  report.json["obstacle"] = obstacle;
  if (const std::string meaning = subgraph_sentence(record.key.workload, record.config); !meaning.empty())
    report.json["meaning"] = meaning;
  Table table{"", {{"field"}, {"value"}}, {}};
  for (const auto& [name, value] : report.json.items()) {
    const bool is_obstacle = name == "obstacle" && obstacle.empty();
    if (!is_obstacle) table.rows.push_back({name, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  report.tables.push_back(std::move(table));
  print(report, arguments.format);
  return ExitCode::ok;
}

}  // namespace

Action add_bank_list(CLI::App& command) {
  auto arguments = std::make_shared<ShowArguments>();  // shared: CLI11 writes it, the action reads it
  add_bank_flags(command, *arguments);
  add_filter_flags(command, *arguments);
  return [arguments] { return list_records(*arguments); };
}

Action add_bank_best(CLI::App& command) {
  auto arguments = std::make_shared<ShowArguments>();
  command.add_flag("--everywhere", arguments->everywhere, "Also those of other devices and environments");
  add_bank_flags(command, *arguments);
  add_filter_flags(command, *arguments);
  return [arguments] { return list_best(*arguments); };
}

Action add_bank_show(CLI::App& command) {
  auto arguments = std::make_shared<ShowArguments>();
  command.add_option("id", arguments->id, "Id of a record, or its first digits")->required();
  add_bank_flags(command, *arguments);
  return [arguments] { return show_record(*arguments); };
}

}  // namespace attune::cli
