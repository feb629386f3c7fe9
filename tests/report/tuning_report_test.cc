// What the page of a tuning is made from; tests/report/check_page.py looks at it in a browser.
#include "report/tuning_report.h"

#include "kernel/parse_workload.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace attune {
namespace {

using Json = nlohmann::json;

TuningResult result_of(const std::string& workload) {
  TuningResult result;
  TaskResult task;
  task.task.workload = parse_workload(workload);
  task.task.key = task.task.workload.key();
  task.task.op = task.task.workload.op;
  task.task.nodes = {"a", "b"};
  task.task.run_ms = 2;
  task.verdict = "tie";
  result.tasks.push_back(task);
  result.ceilings = {{"f32", 100}, {"bf16", 200}, {"amx_bf16", 900}, {"read", 20}, {"l2_read", 80}, {"copy", 30}};
  return result;
}

Json data_of(const std::string& page) {
  const size_t begin = page.find("const data = ") + 13;
  return Json::parse(page.substr(begin, page.find(";\n", begin) - begin));
}

std::vector<std::string> roofs_of(const std::string& workload) {
  std::vector<std::string> ids;
  const Json data = data_of(tuning_report_html(result_of(workload)));
  for (const Json& roof : data.at("roofs")) ids.push_back(roof.at("id"));
  return ids;
}

TEST(TuningReport, has_flops_and_bytes_of_one_call) {
  const Json data = data_of(tuning_report_html(result_of("MatMul@13(f32[8x16], f32[16x4]*) -> (f32[8x4]) {}")));
  const Json& task = data.at("tasks").at(0);
  EXPECT_EQ(task.at("flops").get<double>(), 2 * 8 * 16 * 4);
  EXPECT_EQ(task.at("bytes").get<double>(), 4 * (8 * 16 + 16 * 4 + 8 * 4));
  EXPECT_EQ(task.at("nodes").get<int>(), 2);
}

TEST(TuningReport, shows_the_roofs_of_the_types_that_the_model_computes_in) {
  EXPECT_EQ(roofs_of("Relu@14(f32[16]) -> (f32[16]) {}"), (std::vector<std::string>{"f32", "l2_read", "read"}));
  EXPECT_EQ(roofs_of("Relu@14(bf16[16]) -> (bf16[16]) {}"),
            (std::vector<std::string>{"f32", "bf16", "amx_bf16", "l2_read", "read"}));
}

TEST(TuningReport, is_whole_whatever_a_model_is_called) {
  TuningResult result = result_of("Relu@14(f32[16]) -> (f32[16]) {}");
  result.model = "</script><script>alert(1)</script>/*SCRIPT*/\xff.onnx";
  const std::string page = tuning_report_html(result);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(data_of(page).at("summary").at("model"), "</script><script>alert(1)</script>/*SCRIPT*/\xEF\xBF\xBD.onnx");
  for (const char* missing : {"/*DATA*/", "/*STYLE*/", "src=", "http-equiv", "@import", "url("})
    EXPECT_EQ(page.find(missing), std::string::npos) << missing;
}

}  // namespace
}  // namespace attune
