#include "report/tuning_report.h"

#include "job/result_folder.h"
#include "report/tuning_page.h"

#include <nlohmann/json.hpp>

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

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
              {"roofline_ms", task.roofline_ns * 1e-6 * static_cast<double>(task.task.nodes.size())}};
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
  Json data{{"summary", summary_json(result)}, {"tasks", tasks_json(result)}, {"convergence", Json::array()}};
  for (const ConvergencePoint& point : result.convergence) data["convergence"].push_back({point.seconds, point.run_ms});
  constexpr std::string_view kPlace = "/*DATA*/";
  std::string page(kTuningPage);
  // Names out of a model may hold bytes that are no UTF-8.
  page.replace(page.find(kPlace), kPlace.size(),
               script_safe(data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)));
  return page;
}

}  // namespace attune
