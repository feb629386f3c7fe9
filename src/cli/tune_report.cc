#include "cli/tune_report.h"

#include "cli/precision_arguments.h"
#include "job/result_folder.h"

#include <cmath>

namespace attune::cli {
namespace {

std::string ratio_text(double ratio, const Interval& interval) {
  return fmt::format("{:.2f}x ({:.2f} to {:.2f})", ratio, interval.low, interval.high);
}

Table whole_table(const TuningResult& result, const std::string& plan) {
  Table whole{"", {{"what"}, {"value", Align::right}}, {}};
  const auto row = [&](const std::string& what, const std::string& value) { whole.rows.push_back({what, value}); };
  if (result.comparison) {
    row("before", fmt::format("{:.3f} ms", summarize_samples(result.comparison->before_ms).median));
    row("after", fmt::format("{:.3f} ms", summarize_samples(result.comparison->after_ms).median));
    row("speed-up", fmt::format("{:.3f}x ({:.3f} to {:.3f})", result.comparison->ratio,
                                result.comparison->ratio_interval.low, result.comparison->ratio_interval.high));
  }
  if (result.before_plan)
    row("applied", result.applied ? "yes" : "no, the default is kept");
  else
    row("result", result.conclusion);
  row("trials",
      fmt::format("{} ({} failed, {} known before)", result.trials, result.failed_trials, result.reused_trials));
  row("noise floor", fmt::format("{:.2f} %", 100 * std::expm1(result.noise_floor)));
  row("time", fmt::format("{:.1f} s", result.seconds));
  if (result.precision) row("precision", result.precision->precision);
  if (!plan.empty()) row("plan", plan);
  return whole;
}

Table winners_table(const TuningResult& result) {
  Table winners{"faster kernels", {{"workload"}, {"nodes", Align::right}, {"speed-up", Align::right}, {"kernel"}}, {}};
  for (const TaskResult& task : result.tasks)
    if (task.winner)
      winners.rows.push_back({task.task.key, std::to_string(task.task.nodes.size()),
                              ratio_text(task.ratio, task.ratio_interval),
                              task.winner->provider + " " + attune::to_text(task.winner->config)});
  return winners;
}

Table tried_table(const TuningResult& result) {
  Table table{"subgraphs",
              {{"operators"},
               {"first of the nodes"},
               {"places", Align::right},
               {"ms", Align::right},
               {"tried"},
               {"verdict"},
               {"speed-up", Align::right},
               {"saved ms", Align::right}},
              {}};
  for (const SubgraphResult& one : result.subgraphs) {
    const TriedFusion* best = one.best();
    table.rows.push_back({one.subgraph.whole, one.subgraph.places.front().anchor.name,
                          std::to_string(one.subgraph.places.size()), fmt::format("{:.3f}", one.subgraph.run_ms),
                          best == nullptr ? "" : attune::to_text(best->trial.config), one.verdict,
                          best == nullptr ? "" : ratio_text(best->ratio, best->ratio_interval),
                          best == nullptr ? "" : fmt::format("{:.3f}", best->saved_ms)});
  }
  return table;
}

}  // namespace

void add_tasks(Report& report, const std::vector<TaskSearch>& searches) {
  Table table{"tasks", {{"workload"}, {"nodes", Align::right}, {"ms", Align::right}, {"runs now"}, {"space"}}, {}};
  report.json["tasks"] = nlohmann::ordered_json::array();
  for (const TaskSearch& search : searches) {
    const TuningTask& task = search.task();
    table.rows.push_back({task.key, std::to_string(task.nodes.size()), fmt::format("{:.3f}", task.run_ms),
                          task.provider + " " + attune::to_text(task.config), search.space_text()});
    report.json["tasks"].push_back({{"workload", task.key},
                                    {"nodes", task.nodes},
                                    {"run_ms", task.run_ms},
                                    {"space", search.space_text()},
                                    {"points", search.space_size()}});
  }
  report.tables.push_back(std::move(table));
}

void add_subgraphs(Report& report, const std::vector<Subgraph>& subgraphs) {
  Table table{
      "subgraphs",
      {{"operators"}, {"first of the nodes"}, {"pass"}, {"places", Align::right}, {"ms", Align::right}, {"candidates"}},
      {}};
  report.json["subgraphs"] = nlohmann::ordered_json::array();
  for (const Subgraph& subgraph : subgraphs) {
    std::string candidates;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const FusionCandidate& candidate : subgraph.candidates) {
      candidates += (candidates.empty() ? "" : "; ") + attune::to_text(candidate.trial.config);
      list.push_back(candidate.trial.config);
    }
    nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
    for (const rewrite::Place& place : subgraph.places) nodes.push_back(place.anchor.name);
    table.rows.push_back({subgraph.whole, subgraph.places.front().anchor.name, subgraph.pass,
                          std::to_string(subgraph.places.size()), fmt::format("{:.3f}", subgraph.run_ms), candidates});
    report.json["subgraphs"].push_back({{"key", subgraph.key},
                                        {"pass", subgraph.pass},
                                        {"fused", subgraph.whole},
                                        {"nodes", std::move(nodes)},
                                        {"run_ms", subgraph.run_ms},
                                        {"candidates", std::move(list)}});
  }
  report.tables.push_back(std::move(table));
}

Report result_report(const TuningResult& result, const std::string& plan) {
  Report report;
  report.tables.push_back(whole_table(result, plan));
  if (Table winners = winners_table(result); !winners.rows.empty()) report.tables.push_back(std::move(winners));
  if (!result.subgraphs.empty()) report.tables.push_back(tried_table(result));
  if (result.precision) report.tables.push_back(precision_table(*result.precision));
  report.json = summary_json(result);
  if (!plan.empty()) report.json["plan"] = plan;
  return report;
}

}  // namespace attune::cli
