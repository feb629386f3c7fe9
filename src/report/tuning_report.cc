#include "report/tuning_report.h"

#include "job/result_folder.h"
#include "report/tuning_page.h"
#include "tune/measure/tolerance.h"

#include <nlohmann/json.hpp>

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

/// Of one call: what is read and written at least, constants included.
double operand_bytes(const Workload& workload) {
  double bytes = 0;
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs)
      if (spec) bytes += static_cast<double>(storage_bytes(*spec).value_or(0));
  return bytes;
}

Json tasks_json(const TuningResult& result) {
  Json tasks = Json::array();
  for (const TaskResult& task : result.tasks) {
    Json json{{"op", task.task.op},
              {"workload", task.task.key},
              {"nodes", task.task.nodes.size()},
              {"run_ms", task.task.run_ms},
              {"before", task.task.provider + " " + to_text(task.task.config)},
              {"verdict", task.verdict},
              {"tried", task.tried.size()},
              {"space", task.space},
              {"roofline_ms", task.roofline_ns * 1e-6 * static_cast<double>(task.task.nodes.size())},
              {"flops", tune::count_flops(task.task.workload)},
              {"bytes", operand_bytes(task.task.workload)}};
    if (task.winner) {
      json["after"] = task.winner->provider + " " + to_text(task.winner->config);
      json["ratio"] = task.ratio;
      json["low"] = task.ratio_interval.low;
      json["high"] = task.ratio_interval.high;
    }
    tasks.push_back(std::move(json));
  }
  return tasks;
}

Json subgraphs_json(const TuningResult& result) {
  Json subgraphs = Json::array();
  for (const SubgraphResult& one : result.subgraphs) {
    Json json{{"whole", one.subgraph.whole},
              {"nodes", one.subgraph.places.size()},
              {"run_ms", one.subgraph.run_ms},
              {"verdict", one.verdict},
              {"tried", one.tried.size()},
              {"candidates", one.subgraph.candidates.size()},
              {"way", ""}};
    if (const TriedFusion* best = one.best()) {
      json["way"] = to_text(best->trial.config);
      json["ratio"] = best->ratio;
      json["low"] = best->ratio_interval.low;
      json["high"] = best->ratio_interval.high;
    }
    subgraphs.push_back(std::move(json));
  }
  return subgraphs;
}

/// The ceilings that the model's arithmetic could reach: those of narrow types only where it has operands of them.
Json roofs_json(const TuningResult& result) {
  int narrowest = 32;
  for (const TaskResult& task : result.tasks)
    for (const auto& spec : task.task.workload.inputs)
      if (spec && (is_float(spec->dtype) || bit_width(spec->dtype) == 8))
        narrowest = std::min(narrowest, bit_width(spec->dtype));
  struct Roof {
    std::string_view id, what, kind;
    int bits;
  };
  static constexpr Roof kRoofs[] = {
      {"f32", "fp32", "peak", 32},          {"bf16", "bf16", "peak", 16},
      {"amx_bf16", "AMX bf16", "peak", 16}, {"int8", "int8", "peak", 8},
      {"amx_int8", "AMX int8", "peak", 8},  {"l2_read", "L2 cache", "bandwidth", 64},
      {"read", "memory", "bandwidth", 64},
  };
  Json roofs = Json::array();
  for (const Roof& roof : kRoofs)
    if (const auto rate = result.ceilings.find(roof.id); rate != result.ceilings.end() && roof.bits >= narrowest)
      roofs.push_back({{"id", roof.id}, {"what", roof.what}, {"kind", roof.kind}, {"value", rate->second}});
  return roofs;
}

/// JSON inside of a script element must not end it, whatever a node is called.
std::string script_safe(const std::string& json) {
  std::string safe;
  for (const char c : json) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

}  // namespace

std::string tuning_report_html(const TuningResult& result) {
  Json data{{"summary", summary_json(result)},
            {"tasks", tasks_json(result)},
            {"subgraphs", subgraphs_json(result)},
            {"roofs", roofs_json(result)},
            {"convergence", Json::array()}};
  for (const ConvergencePoint& point : result.convergence) data["convergence"].push_back({point.seconds, point.run_ms});
  constexpr std::string_view kPlace = "/*DATA*/";
  std::string page(kTuningPage);
  // Names out of a model may hold bytes that are no UTF-8.
  page.replace(page.find(kPlace), kPlace.size(),
               script_safe(data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)));
  return page;
}

}  // namespace attune
