#include "cli/tune_progress.h"

#include "cli/output.h"

#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>

namespace attune::cli {
namespace {

/// "Conv(f32[1x64x56x56], …" cut to what fits a line.
std::string shortened(std::string key) {
  constexpr size_t kMost = 48;
  if (key.size() > kMost) key = key.substr(0, kMost - 3) + "...";
  return key;
}

/// What is tried: who runs a kernel, or what of a subgraph is fused.
std::string trial_text(const nlohmann::ordered_json& trial) {
  const auto& config = trial.at("config");
  if (!config.contains("fused") || !config.contains("apart")) return trial.at("provider");
  return fmt::format("{} fused, {} apart", config.at("fused").get<std::string>(),
                     config.at("apart").get<std::string>());
}

}  // namespace

TuneProgress::TuneProgress(double budget_s) : terminal_(isatty(STDERR_FILENO) != 0), budget_s_(budget_s) {}

std::string TuneProgress::task_name(size_t task) const { return task < tasks_.size() ? tasks_[task] : "?"; }

void TuneProgress::show_line(const std::string& line) {
  if (!terminal_) return;
  const std::string padding(width_ > line.size() ? width_ - line.size() : 0, ' ');
  write_stderr("\r" + line + padding);
  width_ = line.size();
}

void TuneProgress::say(const std::string& line) {
  if (terminal_) show_line("");
  write_stderr((terminal_ ? "\r" : "") + line + "\n");
}

void TuneProgress::show(const nlohmann::ordered_json& event) {
  const std::string kind = event.at("event");
  const double left = std::max(0.0, budget_s_ - event.at("t").get<double>());
  if (kind == "begin") {
    tasks_.clear();  // one job may follow another
    for (const auto& task : event.at("tasks"))
      tasks_.push_back(shortened(printable(task.at("workload").get<std::string>())));
    best_.assign(tasks_.size(), 1.0);
    say(fmt::format("{} {}, {:.2f} ms a run; the default plan is usable now", tasks_.size(),
                    event.at("what").get<std::string>(), event.at("run_ms").get<double>()));
  } else if (kind == "trial") {
    ++trials_;
    const size_t task = event.at("task");
    if (event.at("outcome") != "ok")
      ++failed_;
    else if (task < best_.size())
      best_[task] = std::max(best_[task], event.at("ratio").get<double>());
    show_line(fmt::format("[{}/{} {}] {} trials  best {:.2f}x  {} failed  eta {:.0f}s", task + 1, tasks_.size(),
                          task_name(task), trials_, task < best_.size() ? best_[task] : 1.0, failed_, left));
  } else if (kind == "final") {
    const std::string line =
        fmt::format("{}: {} {:.2f}x ({:.2f} to {:.2f}) in the model with {}", task_name(event.at("task")),
                    event.at("verdict").get<std::string>(), event.at("ratio").get<double>(),
                    event.at("low").get<double>(), event.at("high").get<double>(), trial_text(event.at("trial")));
    if (event.at("verdict") == "faster")
      say(line);
    else
      show_line(line);
  } else if (kind == "model") {
    const bool fuses = event.contains("subgraphs");
    say(fmt::format("after {:.0f} s: the model {} {:.3f}x as fast with {} {}", event.at("t").get<double>(),
                    event.at("measured").get<bool>() ? "is" : "should be", event.at("ratio").get<double>(),
                    event.at(fuses ? "subgraphs" : "kernels").get<int>(),
                    fuses ? "subgraphs fused otherwise" : "other kernels"));
  } else if (kind == "layouts") {
    say(event.at("conclusion").get<std::string>());
  } else if (kind == "task_failed") {
    say(fmt::format("{}", printable(event.at("reason").get<std::string>())));
  } else if (kind == "end") {
    say(printable(event.at("conclusion").get<std::string>()));
  }
}

void TuneProgress::finish() {
  if (terminal_ && width_ > 0) write_stderr("\n");
}

}  // namespace attune::cli
