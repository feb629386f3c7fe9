// attune bank export, import, merge and diff: banks that travel.
#include "bank/diff.h"
#include "bank/jsonl.h"
#include "bank/location.h"
#include "bank/merge.h"
#include "base/atomic_file.h"
#include "cli/bank_arguments.h"

#include <CLI/CLI.hpp>

#include <map>
#include <memory>

namespace attune::cli {
namespace {

struct MoveArguments : BankArguments {
  std::string output;                // export
  std::vector<std::string> sources;  // import, merge
  std::string old_bank, new_bank;    // diff
};

ExitCode export_records(const MoveArguments& arguments) {
  const RecordFilter filter = filter_of(arguments);
  require_given_bank(arguments);
  const auto bank = open_one_bank(arguments.bank, BankAccess::read_write);
  if (arguments.output.empty()) {
    export_jsonl(*bank, filter, write_stdout);
    return ExitCode::ok;
  }
  AtomicFile file(arguments.output);
  const int64_t count = export_jsonl(*bank, filter, [&](std::string_view line) { file.append(line); });
  file.commit();
  Report report;
  report.tables.push_back(
      {"", {{"bank"}, {"file"}, {"records", Align::right}}, {{bank->name(), arguments.output, std::to_string(count)}}});
  report.json = {{"bank", bank->name()}, {"file", arguments.output}, {"records", count}};
  print(report, arguments.format);
  return ExitCode::ok;
}

/// Says which lines of a file were left out, the first few of them by number.
void report_skipped(const JsonlBank& source) {
  constexpr size_t kMostLines = 5;
  const auto& skipped = source.skipped();
  if (skipped.empty()) return;
  write_stderr(fmt::format("{}: {} lines skipped\n", source.name(), skipped.size()));
  for (size_t i = 0; i < std::min(skipped.size(), kMostLines); ++i)
    write_stderr(printable(fmt::format("  line {}: {} ({})", skipped[i].line, skip_reason_text(skipped[i].skip.reason),
                                       skipped[i].skip.detail)) +
                 "\n");
  if (skipped.size() > kMostLines) write_stderr("  'attune bank verify --bank FILE' names all of them\n");
}

std::map<std::string, int64_t> skip_counts(const Bank& bank) {
  std::map<std::string, int64_t> counts;
  if (const auto* lines = dynamic_cast<const JsonlBank*>(&bank))
    for (const SkippedLine& line : lines->skipped()) ++counts[std::string(skip_reason_text(line.skip.reason))];
  return counts;
}

ExitCode merge_sources(const MoveArguments& arguments, const std::vector<std::unique_ptr<Bank>>& sources) {
  const auto target = open_one_bank(arguments.bank, BankAccess::read_write);
  std::vector<const Bank*> pointers;
  for (const auto& source : sources) pointers.push_back(source.get());
  const std::vector<AddCounts> counts = merge_banks(*target, pointers);
  Report report;
  report.json = {{"bank", target->name()}, {"sources", nlohmann::ordered_json::array()}};
  Table table{"",
              {{"source"},
               {"added", Align::right},
               {"known", Align::right},
               {"removed before", Align::right},
               {"skipped", Align::right}},
              {}};
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto skips = skip_counts(*sources[i]);
    int64_t skipped = 0;
    for (const auto& [reason, count] : skips) skipped += count;
    table.rows.push_back({sources[i]->name(), std::to_string(counts[i].added), std::to_string(counts[i].known),
                          std::to_string(counts[i].removed), std::to_string(skipped)});
    report.json["sources"].push_back({{"source", sources[i]->name()},
                                      {"added", counts[i].added},
                                      {"known", counts[i].known},
                                      {"removed_before", counts[i].removed},
                                      {"skipped", skips}});
    if (const auto* lines = dynamic_cast<const JsonlBank*>(sources[i].get())) report_skipped(*lines);
  }
  report.tables.push_back(std::move(table));
  print(report, arguments.format);
  return ExitCode::ok;
}

ExitCode import_records(const MoveArguments& arguments) {
  std::vector<std::unique_ptr<Bank>> sources;
  for (const std::string& path : arguments.sources) sources.push_back(std::make_unique<JsonlBank>(path));
  return merge_sources(arguments, sources);
}

ExitCode merge_files(const MoveArguments& arguments) {
  std::vector<std::unique_ptr<Bank>> sources;
  for (const std::string& path : arguments.sources) sources.push_back(open_bank_file(path));
  return merge_sources(arguments, sources);
}

ExitCode diff_banks(const MoveArguments& arguments) {
  const RecordFilter filter = filter_of(arguments);
  require_given_bank(arguments);
  const auto before = open_bank_file(arguments.old_bank);
  if (!arguments.new_bank.empty() && !arguments.bank.empty())
    throw UserError("give the newer bank once: as second argument '{}' or with --bank", arguments.new_bank);
  const auto after = arguments.new_bank.empty() ? open_one_bank(arguments.bank, BankAccess::read_write)
                                                : open_bank_file(arguments.new_bank);
  Report report;
  report.json = nlohmann::ordered_json::array();
  Table table{"",
              {{"change"},
               {"old ratio"},
               {"new ratio"},
               {"old config"},
               {"new config"},
               {"threads", Align::right},
               {"workload"}},
              {}};
  std::map<std::string_view, int64_t> counts;
  for (const BankDifference& difference : compare_banks(*before, *after, filter)) {
    const std::string_view change = change_name(difference.change);
    ++counts[change];
    report.json.push_back({{"workload", difference.key.workload},
                           {"device", difference.key.device},
                           {"mode", difference.key.mode},
                           {"threads", difference.key.threads},
                           {"change", change},
                           {"old", nullptr},
                           {"new", nullptr}});
    if (difference.before) report.json.back()["old"] = json_of(*difference.before);
    if (difference.after) report.json.back()["new"] = json_of(*difference.after);
    if (difference.change == Change::same) continue;
    const auto config = [](const std::optional<Record>& record) {
      return record ? fmt::format("{}: {}", record->provider, attune::to_text(record->config)) : "";
    };
    table.rows.push_back({std::string(change), difference.before ? ratio_text(*difference.before) : "",
                          difference.after ? ratio_text(*difference.after) : "", config(difference.before),
                          config(difference.after), std::to_string(difference.key.threads), difference.key.workload});
  }
  report.tables.push_back(std::move(table));
  print(report, arguments.format);
  for (const auto& [change, count] : counts) write_stderr(fmt::format("{} {}\n", count, change));
  return ExitCode::ok;
}

}  // namespace

Action add_bank_export(CLI::App& command) {
  auto arguments = std::make_shared<MoveArguments>();  // shared: CLI11 writes it, the action reads it
  command.add_option("-o,--output", arguments->output, "File to write (default: standard output)");
  add_bank_flags(command, *arguments);
  add_filter_flags(command, *arguments);
  return [arguments] { return export_records(*arguments); };
}

Action add_bank_import(CLI::App& command) {
  auto arguments = std::make_shared<MoveArguments>();
  command.add_option("file", arguments->sources, "Files that 'attune bank export' wrote")->required();
  add_bank_flags(command, *arguments);
  return [arguments] { return import_records(*arguments); };
}

Action add_bank_merge(CLI::App& command) {
  auto arguments = std::make_shared<MoveArguments>();
  command.add_option("source", arguments->sources, "Banks to take records from: SQLite files or JSON lines")
      ->required();
  add_bank_flags(command, *arguments);
  return [arguments] { return merge_files(*arguments); };
}

Action add_bank_diff(CLI::App& command) {
  auto arguments = std::make_shared<MoveArguments>();
  command.add_option("old", arguments->old_bank, "The older bank: SQLite or JSON lines")->required();
  command.add_option("new", arguments->new_bank, "The newer one (default: the bank of --bank)");
  add_bank_flags(command, *arguments);
  add_filter_flags(command, *arguments);
  return [arguments] { return diff_banks(*arguments); };
}

}  // namespace attune::cli
