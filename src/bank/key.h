// What a measurement is of. A record answers a question only when every byte of its key is that of the question;
// anything else may seed a search.
#pragma once

#include <string>
#include <string_view>

namespace attune {

struct BankKey {
  std::string device;    // device_text(): everything of the machine that decides speed
  std::string workload;  // Workload::key(), the layouts of operands included
  std::string mode;      // numeric_mode_name()
  int threads = 1;

  bool operator==(const BankKey&) const = default;
  auto operator<=>(const BankKey&) const = default;
};

/// The operator of a workload's text: "Conv" of "Conv@17(...)", "attune::FusedConv" of "attune::FusedConv@1(...)".
inline std::string_view op_of_workload(std::string_view workload) { return workload.substr(0, workload.find('@')); }

}  // namespace attune
