// attune inspect --passes: what passes did, in every format.
#include "cli/run_binary.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace attune {
namespace {

TEST(InspectPasses, tells_of_each_pass_what_it_changed) {
  const Finished run = run_attune("inspect zoo:mobilenetv2 --passes --format json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto passes = nlohmann::json::parse(run.out).at("passes");
  int64_t nodes = passes.at(0).at("nodes_before").get<int64_t>();
  for (const auto& pass : passes) {
    EXPECT_EQ(pass.at("nodes_before").get<int64_t>(), nodes) << pass;
    nodes = pass.at("nodes_after").get<int64_t>();
    int64_t removed = 0, added = 0;
    for (const auto& node : pass.at("nodes")) {
      removed += node.at("change") == "removed" ? 1 : 0;
      added += node.at("change") == "added" ? 1 : 0;
    }
    EXPECT_EQ(pass.at("nodes_before").get<int64_t>() - removed + added, nodes) << pass.at("name");
    if (pass.at("name") == "fuse_epilogues") {
      EXPECT_GT(pass.at("changes").get<int>(), 0);
      EXPECT_GT(removed, 0);
    }
    EXPECT_NE(pass.at("name"), "use_bf16");  // runs on request alone
  }
  EXPECT_LT(nodes, passes.at(0).at("nodes_before").get<int64_t>());
}

TEST(InspectPasses, lists_nodes_when_asked) {
  const Finished brief = run_attune("inspect zoo:mobilenetv2 --passes");
  const Finished verbose = run_attune("inspect zoo:mobilenetv2 --passes --verbose");
  EXPECT_NE(brief.out.find("fuse_epilogues"), std::string::npos);
  EXPECT_EQ(brief.out.find("attune::FusedConv"), std::string::npos);
  EXPECT_NE(verbose.out.find("attune::FusedConv"), std::string::npos);
  EXPECT_EQ(run_attune("inspect zoo:mobilenetv2 --verbose").exit_code, 2);
}

TEST(LayoutFlag, is_followed_by_the_plan_and_refused_for_plan_files) {
  const Finished plain = run_attune("why zoo:mobilenetv2:size=32 --layout nchw");
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.out.find("nhwc"), std::string::npos);
  EXPECT_EQ(plain.out.find("nchw16c"), std::string::npos);
  EXPECT_EQ(run_attune("why zoo:mobilenetv2 --layout nwhc").exit_code, 2);
  const TempFolder folder;
  const std::string plan = folder.file("m.plan").string();
  ASSERT_EQ(run_attune("plan zoo:mobilenetv2:size=32 --output " + plan).exit_code, 0);
  const Finished asked = run_attune("run " + plan + " --layout nhwc");
  EXPECT_EQ(asked.exit_code, 2);
  EXPECT_NE(asked.err.find("keeps those it was made with"), std::string::npos) << asked.err;
}

}  // namespace
}  // namespace attune
