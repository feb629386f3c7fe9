// attune doctor: what the machine is, what it reaches, and what is missing with the remedy.
#include "base/memory.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "device/cpu/ceilings.h"
#include "device/cpu/cpu_info.h"
#include "device/libraries.h"
#include "providers/providers.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace attune::cli {
namespace {

struct DoctorOptions {
  OutputFormat format = OutputFormat::table;
  bool no_measure = false;
};

std::string yes_no(bool value) { return value ? "yes" : "no"; }

std::string size_text(int64_t bytes) {
  if (bytes >= int64_t{1} << 30) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (int64_t{1} << 30));
  if (bytes >= int64_t{1} << 20) return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{} KiB", bytes >> 10);
}

const char* cache_type_name(CacheType type) {
  switch (type) {
    case CacheType::data: return "data";
    case CacheType::instruction: return "instruction";
    case CacheType::unified: return "unified";
  }
  return "";
}

void add_machine(const CpuInfo& info, Report& report) {
  const std::string fingerprint = device_fingerprint(info);
  const int64_t available = available_memory_bytes();
  const std::string quota = info.quota_cores ? fmt::format("{:.2f}", *info.quota_cores) : "none";
  report.tables.push_back(
      {"Machine",
       {{"item"}, {"value"}},
       {{"processor", info.brand},
        {"vendor", info.vendor},
        {"family, model, stepping", fmt::format("{}, {}, {}", info.family, info.model, info.stepping)},
        {"virtual machine", yes_no(info.virtual_machine)},
        {"usable cores", fmt::format("{} of {}", info.usable_cores, info.online_cores)},
        {"core quota", quota},
        {"memory", fmt::format("{}, {} available", size_text(info.memory_bytes), size_text(available))},
        {"fingerprint", fingerprint_hash(fingerprint)}}});
  auto& json = report.json["machine"];
  json = {{"processor", info.brand},
          {"vendor", info.vendor},
          {"family", info.family},
          {"model", info.model},
          {"stepping", info.stepping},
          {"virtual_machine", info.virtual_machine},
          {"usable_cores", info.usable_cores},
          {"online_cores", info.online_cores},
          {"affinity_cores", info.affinity_cores},
          {"quota_cores", nullptr},
          {"memory_bytes", info.memory_bytes},
          {"available_memory_bytes", available},
          {"fingerprint", fingerprint},
          {"fingerprint_hash", fingerprint_hash(fingerprint)}};
  if (info.quota_cores) json["quota_cores"] = *info.quota_cores;
}

void add_isa(const CpuInfo& info, Report& report) {
  Table table{"Instruction sets", {{"name"}, {"in processor"}, {"usable"}}, {}};
  auto& json = report.json["isa"] = nlohmann::ordered_json::array();
  for (const IsaState& state : info.isa) {
    table.rows.push_back({std::string(state.name), yes_no(state.in_cpu), yes_no(state.usable)});
    json.push_back({{"name", state.name}, {"in_cpu", state.in_cpu}, {"usable", state.usable}});
  }
  report.json["amx_palette_hidden"] = info.amx_palette_hidden;
  report.tables.push_back(std::move(table));
}

void add_caches(const CpuInfo& info, Report& report) {
  Table table{
      "Caches", {{"level"}, {"type"}, {"size", Align::right}, {"ways", Align::right}, {"shared by", Align::right}}, {}};
  auto& json = report.json["caches"] = nlohmann::ordered_json::array();
  for (const Cache& cache : info.caches) {
    table.rows.push_back({fmt::format("L{}", cache.level), cache_type_name(cache.type), size_text(cache.size_bytes),
                          std::to_string(cache.ways), std::to_string(cache.shared_by)});
    json.push_back({{"level", cache.level},
                    {"type", cache_type_name(cache.type)},
                    {"size_bytes", cache.size_bytes},
                    {"line_bytes", cache.line_bytes},
                    {"ways", cache.ways},
                    {"shared_by", cache.shared_by}});
  }
  report.tables.push_back(std::move(table));
}

void add_ceilings(const std::vector<Ceiling>& ceilings, Report& report) {
  Table table{
      "Ceilings, measured now", {{"what"}, {"1 thread", Align::right}, {"all threads", Align::right}, {"unit"}}, {}};
  auto& json = report.json["ceilings"] = nlohmann::ordered_json::array();
  for (const Ceiling& ceiling : ceilings) {
    table.rows.push_back({std::string(ceiling.what), fmt::format("{:.1f}", ceiling.one_thread),
                          fmt::format("{:.1f}", ceiling.all_threads), std::string(ceiling.unit)});
    json.push_back({{"id", ceiling.id},
                    {"what", ceiling.what},
                    {"one_thread", ceiling.one_thread},
                    {"all_threads", ceiling.all_threads},
                    {"unit", ceiling.unit}});
  }
  report.tables.push_back(std::move(table));
}

void add_libraries(Report& report) {
  Table table{"Libraries", {{"name"}, {"found"}, {"version"}, {"purpose"}, {"remedy"}}, {}};
  auto& json = report.json["libraries"] = nlohmann::ordered_json::array();
  for (const Library& library : libraries()) {
    table.rows.push_back(
        {library.name, yes_no(library.found), library.version, library.purpose, library.found ? "" : library.remedy});
    json.push_back({{"name", library.name},
                    {"found", library.found},
                    {"version", library.version},
                    {"purpose", library.purpose},
                    {"remedy", library.remedy}});
  }
  report.tables.push_back(std::move(table));
}

void add_providers(Report& report) {
  Table table{"Providers of kernels", {{"name"}, {"environment"}, {"note"}}, {}};
  auto& json = report.json["providers"] = nlohmann::ordered_json::array();
  for (const Provider* provider : providers()) {
    table.rows.push_back({std::string(provider->name()), provider->environment(), provider->note()});
    json.push_back({{"name", provider->name()}, {"environment", provider->environment()}, {"note", provider->note()}});
  }
  report.tables.push_back(std::move(table));
}

void add_findings(const CpuInfo& info, Report& report) {
  Table table{"Findings", {{"problem"}, {"remedy"}}, {}};
  auto& json = report.json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : cpu_findings(info)) {
    table.rows.push_back({finding.problem, finding.remedy});
    json.push_back({{"problem", finding.problem}, {"remedy", finding.remedy}});
  }
  if (!table.rows.empty()) report.tables.push_back(std::move(table));
}

ExitCode run_doctor(const DoctorOptions& options) {
  const CpuInfo& info = cpu_info();
  Report report;
  add_machine(info, report);
  add_isa(info, report);
  add_caches(info, report);
  if (!options.no_measure) {
    write_stderr("measuring the ceilings of this machine, about a second ...\n");
    add_ceilings(measure_ceilings(info), report);
  }
  add_libraries(report);
  add_providers(report);
  add_findings(info, report);
  print(report, options.format);
  return ExitCode::ok;
}

}  // namespace

Action add_doctor(CLI::App& verb) {
  auto options = std::make_shared<DoctorOptions>();  // shared: CLI11 writes it, the action reads it
  verb.add_flag("--no-measure", options->no_measure, "Skip measuring what the machine reaches");
  add_format(verb, options->format);
  return [options] { return run_doctor(*options); };
}

}  // namespace attune::cli
