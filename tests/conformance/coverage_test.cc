// The suite says of itself that it covers every operator; this is the check.
#include "conformance/case_file.h"
#include "kernel/parse_workload.h"
#include "ops/registry.h"
#include "providers/providers.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace attune::testing {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(ATTUNE_TEST_SOURCE) / "conformance";

std::string full_name(std::string_view domain, std::string_view op) {
  return domain.empty() ? std::string(op) : fmt::format("{}::{}", domain, op);
}

/// Operator → why the suite has no case of it, from lines "domain::Op: reason".
std::map<std::string, std::string> read_left_out() {
  std::map<std::string, std::string> left_out;
  std::ifstream in(kFolder / "left_out.txt");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t colon = line.find(": ");
    left_out[line.substr(0, colon)] = colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return left_out;
}

std::set<const OpDef*> operators_with_cases() {
  std::set<const OpDef*> found;
  for (const CaseSection& section : read_case_files(kFolder))
    for (const CaseLine& line : section.lines)
      for (const std::string& text : line.expanded) {
        const Workload workload = parse_workload_case(text).workload;
        found.insert(find_op(workload.domain, workload.op, workload.version));
      }
  return found;
}

TEST(ConformanceCoverage, every_operator_has_a_case_or_a_reason) {
  const auto left_out = read_left_out();
  const auto with_cases = operators_with_cases();
  for (const OpDef& op : all_ops()) {
    const std::string name = full_name(op.domain, op.name);
    const bool has_case = with_cases.contains(&op), has_reason = left_out.contains(name);
    EXPECT_TRUE(has_case || has_reason) << name << " (opset " << op.since
                                        << ") needs a line in a tests/conformance/*.cases file";
    EXPECT_FALSE(has_case && has_reason) << name << " has a case and stands in left_out.txt";
  }
}

TEST(ConformanceCoverage, left_out_names_operators_and_says_why) {
  std::set<std::string> names;
  for (const OpDef& op : all_ops()) names.insert(full_name(op.domain, op.name));
  for (const auto& [name, reason] : read_left_out()) {
    EXPECT_TRUE(names.contains(name)) << name << " is no operator";
    EXPECT_NE(reason, "") << name;
  }
}

TEST(ConformanceCoverage, sections_name_providers_that_exist) {
  std::set<std::string> known = {"onednn"};  // which a build may lack
  for (const Provider* provider : every_provider()) known.emplace(provider->name());
  for (const CaseSection& section : read_case_files(kFolder)) {
    for (const std::string& name : section.served_by) EXPECT_TRUE(known.contains(name)) << section.file << ": " << name;
    for (const auto& [name, words] : section.refused_by)
      EXPECT_TRUE(known.contains(name)) << section.file << ": " << name;
    EXPECT_FALSE(section.lines.empty()) << section.file << ": " << section.name;
  }
}

}  // namespace
}  // namespace attune::testing
