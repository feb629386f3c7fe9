// What a tuning job shows while it runs: one live line on a terminal, a line for each decision on a pipe.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace attune::cli {

class TuneProgress {
 public:
  explicit TuneProgress(double budget_s);
  void show(const nlohmann::ordered_json& event);
  /// Ends the live line.
  void finish();

 private:
  void show_line(const std::string& line);
  void say(const std::string& line);
  std::string task_name(size_t task) const;

  bool terminal_;
  double budget_s_;
  std::vector<std::string> tasks_;  // short names
  std::vector<double> best_;        // ratio by task
  int64_t trials_ = 0, failed_ = 0;
  size_t width_ = 0;  // of the live line
};

}  // namespace attune::cli
