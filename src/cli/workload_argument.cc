#include "cli/workload_argument.h"

#include "kernel/check_workload.h"
#include "kernel/parse_workload.h"

namespace attune::cli {

bool is_workload(const std::string& text) {
  return text.find('@') != std::string::npos && text.find('(') != std::string::npos;
}

tune::MeasureTask stated_task(const std::string& text) {
  tune::MeasureTask task{parse_workload(text), parse_workload_case(text).contents};
  check_workload(task.workload);
  return task;
}

}  // namespace attune::cli
