#include "job/result_folder.h"

#include "bank/jsonl.h"
#include "base/atomic_file.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <set>

namespace attune {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

void write_file(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.append(text);
  file.commit();
}

std::string percent_saved(double ratio) { return fmt::format("{:.1f}%", 100 * (1 - 1 / ratio)); }

Json interval_json(const Interval& interval) { return {interval.low, interval.high}; }

Json trial_json(const TriedConfig& tried) {
  Json json{{"provider", tried.trial.provider},
            {"config", tried.trial.config},
            {"outcome", outcome_name(tried.outcome)},
            {"from_bank", tried.from_bank}};
  if (tried.outcome == Outcome::ok) {
    json["ratio"] = std::exp(-tried.log_ratio);
    json["max_error"] = tried.max_error;
    if (tried.time_ns > 0) json["time_us"] = tried.time_ns / 1000;
  }
  return json;
}

Json task_json(const TaskResult& task) {
  Json json{{"workload", task.task.key},
            {"nodes", task.task.nodes},
            {"run_ms", task.task.run_ms},
            {"space", task.space},
            {"before", {{"provider", task.task.provider}, {"config", task.task.config}}},
            {"verdict", task.verdict},
            {"tried", task.tried.size()},
            {"measured", task.measured}};
  if (task.winner) {
    json["after"] = {{"provider", task.winner->provider}, {"config", task.winner->config}};
    json["speedup"] = task.ratio;
    json["speedup_interval"] = interval_json(task.ratio_interval);
    json["improvement"] = percent_saved(task.ratio);
  }
  return json;
}

Json subgraph_json(const SubgraphResult& result) {
  const Subgraph& subgraph = result.subgraph;
  Json nodes = Json::array(), tried = Json::array();
  for (const rewrite::Place& place : subgraph.places) nodes.push_back(place.anchor.name);
  for (const TriedFusion& one : result.tried)
    tried.push_back({{"way", one.trial.config},
                     {"verdict", one.verdict},
                     {"speedup", one.ratio},
                     {"speedup_interval", interval_json(one.ratio_interval)},
                     {"saved_ms", one.saved_ms},
                     {"from_bank", one.from_bank}});
  Json json{{"subgraph", subgraph.key},
            {"fused_by_default", subgraph.whole},
            {"nodes", std::move(nodes)},
            {"run_ms", subgraph.run_ms},
            {"candidates", subgraph.candidates.size()},
            {"verdict", result.verdict},
            {"used", result.winner ? result.winner->config : subgraph.by_default.config},
            {"tried", std::move(tried)}};
  if (result.winner) {
    json["speedup"] = result.best()->ratio;
    json["improvement"] = percent_saved(result.best()->ratio);
    json["saved_ms"] = result.best()->saved_ms;
  }
  return json;
}

/// What subgraphs add to the summary.
void add_subgraphs(const TuningResult& result, Json& json) {
  if (result.subgraphs.empty()) return;
  Json improved = Json::array();
  for (const SubgraphResult& one : result.subgraphs)
    if (one.winner)
      improved.push_back({{"subgraph", one.subgraph.whole},
                          {"nodes", one.subgraph.places.size()},
                          {"used", one.winner->config},
                          {"improvement", percent_saved(one.best()->ratio)}});
  json["total_subgraphs"] = result.subgraphs.size();
  json["tuned_subgraphs"] = improved.size();
  json["top_improved_subgraphs"] = std::move(improved);
}

/// "Conv_f32": operator and the type it computes in.
std::string file_stem(const Workload& workload) {
  std::string stem = workload.op;
  for (const auto& spec : workload.inputs)
    if (spec) return stem + "_" + std::string(dtype_name(spec->dtype));
  return stem;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string op_summary_csv(const Plan& plan, const std::vector<double>& step_ms) {
  std::string text = "node,operator,provider,config,ms,why\n";
  for (size_t i = 0; i < plan.steps.size() && i < step_ms.size(); ++i) {
    const Step& step = plan.steps[i];
    text += fmt::format("{},{},{},{},{:.6f},{}\n", csv_cell(step.label),
                        step.node == nullptr ? "Reorder" : csv_cell(step.node->op), step.provider,
                        csv_cell(to_text(step.config)), step_ms[i], csv_cell(step.reason));
  }
  return text;
}

double median_ms(const std::vector<double>& samples) { return samples.empty() ? 0 : summarize_samples(samples).median; }

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y%m%d%H%M%S", &parts)};
}

}  // namespace

Json summary_json(const TuningResult& result) {
  int64_t total = 0, tuned = 0;
  double run_ms = 0, saved_ms = 0;
  std::vector<const TaskResult*> improved;
  for (const TaskResult& task : result.tasks) {
    total += static_cast<int64_t>(task.task.nodes.size());
    run_ms += task.task.run_ms;
    saved_ms += task.saved_ms();
    if (!task.winner) continue;
    tuned += static_cast<int64_t>(task.task.nodes.size());
    improved.push_back(&task);
  }
  std::stable_sort(improved.begin(), improved.end(),
                   [](const TaskResult* a, const TaskResult* b) { return a->saved_ms() > b->saved_ms(); });
  Json top = Json::array();
  constexpr size_t kTop = 10;
  for (size_t i = 0; i < improved.size() && i < kTop; ++i)
    top.push_back({{"op", improved[i]->task.nodes.front()},
                   {"improvement", percent_saved(improved[i]->ratio)},
                   {"type", improved[i]->task.op},
                   {"nodes", improved[i]->task.nodes.size()}});
  const bool applied = result.applied && result.comparison;
  const bool alone = !result.before_plan;  // operators of no model: what they take together is all that is known
  const double ratio = applied                      ? result.comparison->ratio
                       : alone && run_ms > saved_ms ? run_ms / (run_ms - saved_ms)
                                                    : 1;
  Json json{{"model", result.model},
            {"total_ops", total},
            {"tuned_ops", applied || alone ? tuned : 0},
            {"performance_improvement", percent_saved(ratio)},
            {"tuning_time", fmt::format("{:.0f}s", result.seconds)},
            {"top_improved_ops", top},
            {"applied", result.applied},
            {"conclusion", result.conclusion},
            {"trials", result.trials},
            {"failed_trials", result.failed_trials},
            {"reused_trials", result.reused_trials},
            {"noise_floor", std::expm1(result.noise_floor)},
            {"end", result.end == JobEnd::finished       ? "finished"
                    : result.end == JobEnd::budget_spent ? "budget_spent"
                                                         : "interrupted"}};
  if (!result.layouts.empty()) json["layouts"] = result.layouts;
  if (result.precision) json["precision"] = to_json(*result.precision);
  if (result.comparison) {
    json["before_ms"] = median_ms(result.comparison->before_ms);
    json["after_ms"] = median_ms(result.comparison->after_ms);
    json["speedup"] = result.comparison->ratio;
    json["speedup_interval"] = interval_json(result.comparison->ratio_interval);
  }
  add_subgraphs(result, json);
  return json;
}

void prepare_result_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UserError("cannot make the folder '{}': {}", folder.string(), error.message());
  if (!fs::is_directory(folder)) throw UserError("'{}' is not a folder; give --output another one", folder.string());
  if (access(folder.c_str(), W_OK) != 0) throw UserError("the folder '{}' cannot be written to", folder.string());
}

void write_result_folder(const TuningResult& result, const fs::path& folder) {
  for (const char* part : {"op_tuning", "profiling/before_tuning", "profiling/after_tuning"})
    fs::create_directories(folder / part);
  write_file(folder / "summary.json", summary_json(result).dump(2) + "\n");

  std::map<std::string, Json> by_op;
  Json log = Json::array();
  for (const TaskResult& task : result.tasks) {
    Json entry = task_json(task);
    Json trials = Json::array();
    for (const TriedConfig& tried : task.tried) trials.push_back(trial_json(tried));
    Json& file = by_op[file_stem(task.task.workload)];
    if (file.is_null()) file = Json::array();
    file.push_back(entry);
    log.push_back({{"workload", task.task.key}, {"trials", std::move(trials)}});
  }
  std::map<std::string, Json> by_pass;
  for (const SubgraphResult& one : result.subgraphs) {
    Json& file = by_pass[one.subgraph.pass];
    if (file.is_null()) file = Json::array();
    file.push_back(subgraph_json(one));
  }
  if (!by_pass.empty()) fs::create_directories(folder / "subgraph_tuning");
  for (const auto& [pass, json] : by_pass)
    write_file(folder / "subgraph_tuning" / (pass + ".json"), json.dump(2) + "\n");
  for (const auto& [stem, json] : by_op) write_file(folder / "op_tuning" / (stem + ".json"), json.dump(2) + "\n");
  write_file(folder / fmt::format("tune_result_{}_pid{}.json", timestamp(), getpid()), log.dump(1) + "\n");
  if (result.before_plan)
    write_file(folder / "profiling/before_tuning/op_summary.csv",
               op_summary_csv(*result.before_plan, result.before_step_ms));
  if (result.after_plan)
    write_file(folder / "profiling/after_tuning/op_summary.csv",
               op_summary_csv(*result.after_plan, result.after_step_ms));
  std::set<std::string> lines;  // sorted, each once
  for (const Record& record : result.records) lines.insert(jsonl_line(record));
  std::string records;
  for (const std::string& line : lines) records += line;
  write_file(folder / kRecordsFileName, records);
}

}  // namespace attune
