// Which subgraphs a model has, and what deciding on one of them does to the passes.
#include "job/subgraph.h"

#include "graph/text.h"
#include "job/partition_runner.h"
#include "job/twins.h"
#include "runtime/random_inputs.h"
#include "runtime/session.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

struct Opened {
  explicit Opened(const char* text, SessionOptions options = {})
      : graph(parse_graph(text)), session(Graph(graph), std::move(options)), inputs(random_inputs(graph, {}, 1)) {}

  std::vector<Subgraph> subgraphs() const {
    const auto plan = session.plan(inputs);
    return find_subgraphs(session.rewrites(), *plan, std::vector<double>(plan->steps.size(), 1.0));
  }
  std::vector<std::string> labels() const {
    std::vector<std::string> result;
    for (const Step& step : session.plan(inputs)->steps)
      if (step.node != nullptr) result.push_back(step.label);
    return result;
  }

  Graph graph;
  Session session;
  std::vector<Tensor> inputs;
};

TEST(Subgraph, equal_places_are_one_decision) {
  const std::vector<Subgraph> found = Opened(test::kTwins).subgraphs();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].whole, "MatMul + Add + Relu") << "that with two places takes the most time";
  EXPECT_EQ(found[0].pass, "fuse_epilogues");
  ASSERT_EQ(found[0].places.size(), 2u);
  EXPECT_EQ(found[0].places[1].anchor.name, "second");
  EXPECT_DOUBLE_EQ(found[0].run_ms, 2);
  EXPECT_EQ(found[1].whole, "MatMul + Tanh");
  EXPECT_EQ(found[1].names(), (NodeNames{"third", "third_tanh"}));
}

TEST(Subgraph, is_known_by_what_it_is_fused_into_and_not_by_names) {
  const std::string key = Opened(test::kTwins).subgraphs()[0].key;
  EXPECT_TRUE(key.starts_with("subgraph@fuse_epilogues attune::FusedMatMul@1(f32[4x3]")) << key;
  std::string renamed = test::kTwins;
  for (const char* name : {"\"first", "\"second"})
    for (size_t at = renamed.find(name); at != std::string::npos; at = renamed.find(name, at + 1))
      renamed.insert(at + 1, "other_");
  EXPECT_EQ(Opened(renamed.c_str()).subgraphs()[0].key, key);
}

TEST(Subgraph, of_an_epilogue_may_be_cut_after_every_step) {
  const std::vector<Subgraph> found = Opened(test::kTwins).subgraphs();
  ASSERT_EQ(found[0].candidates.size(), 2u);
  EXPECT_EQ(found[0].candidates[0].trial.config, (Config{{"fused", "nothing"}, {"apart", "MatMul + Add + Relu"}}));
  EXPECT_EQ(found[0].candidates[1].trial.config, (Config{{"fused", "MatMul + Add"}, {"apart", "Relu"}}));
  EXPECT_EQ(found[1].candidates.size(), 1u);
  EXPECT_NE(found[0].find(found[0].candidates[1].trial), nullptr);
  EXPECT_EQ(found[0].find(found[0].by_default), nullptr);
}

TEST(Subgraph, a_decision_is_what_the_passes_leave_alone) {
  const Opened whole(test::kTwins);
  EXPECT_EQ(whole.labels(), (std::vector<std::string>{"first", "second", "third"}));
  const std::vector<Subgraph> found = whole.subgraphs();
  SessionOptions cut;
  choose(found[0], found[0].candidates[1], cut);
  EXPECT_EQ(cut.left_alone.at("fuse_epilogues"), (rewrite::LeftAlone{"first_relu", "second_relu"}));

  const Choices choices = {{0, found[0].candidates[1].trial}, {1, found[1].candidates[0].trial}};
  const Opened apart(test::kTwins, partitioned({}, found, choices));
  EXPECT_EQ(apart.labels(),
            (std::vector<std::string>{"first", "first_relu", "second", "second_relu", "third", "third_tanh"}));
}

TEST(Subgraph, of_a_pass_that_fuses_on_request_is_apart_by_default) {
  const char* pair = R"(graph "g" {
  input %x : f32[1, 2, 4, 4]
  const %w : f32[2, 1, 1, 1] = [1, 2]
  const %v : f32[3, 2, 1, 1] = [1, 2, 3, 4, 5, 6]
  %a = Conv@17(%x, %w) "deep" {group = 2}
  %y = Conv@17(%a, %v) "point"
  output %y
})";
  const std::vector<Subgraph> found = Opened(pair).subgraphs();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pass, "fuse_separable");
  EXPECT_EQ(found[0].by_default.config, (Config{{"fused", "nothing"}, {"apart", "Conv + Conv"}}));
  ASSERT_EQ(found[0].candidates.size(), 1u);
  EXPECT_EQ(found[0].candidates[0].trial.config, (Config{{"fused", "Conv + Conv"}}));
  SessionOptions options = partitioned({}, found, {{0, found[0].candidates[0].trial}});
  EXPECT_EQ(options.asked_for.at("fuse_separable").names, (decltype(rewrite::AskedFor::names){"point"}));
}

TEST(Subgraph, regions_hold_what_a_place_falls_apart_into) {
  const Opened whole(test::kTwins);
  const std::vector<Subgraph> found = whole.subgraphs();
  const Opened apart(test::kTwins, partitioned({}, found, {{1, found[1].candidates[0].trial}}));
  const auto before = whole.session.plan(whole.inputs), after = apart.session.plan(apart.inputs);
  const NodeNames names[] = {found[1].names()};
  const std::vector<ChangedRegion> regions = changed_regions(*before, *after, names);
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_EQ(regions[0].own_before.size(), 1u);
  EXPECT_EQ(regions[0].own_after.size(), 2u);
  EXPECT_GT(regions[0].before.size(), 1u) << "the neighbour counts";
}

TEST(Subgraph, of_attention_has_all_nodes_that_it_replaces) {
  const Opened attention(R"(graph "g" {
  input %q : f32[1, 2, 4, 8]
  input %k : f32[1, 2, 4, 8]
  input %v : f32[1, 2, 4, 8]
  const %scale : f32[] = [0.5]
  %t = Transpose@13(%k) "turn" {perm = ints [0, 1, 3, 2]}
  %p = MatMul@13(%q, %t) "product"
  %m = Mul@14(%p, %scale) "scale"
  %s = Softmax@13(%m) "softmax" {axis = 3}
  %y = MatMul@13(%s, %v) "weigh"
  output %y
})");
  const std::vector<Subgraph> found = attention.subgraphs();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pass, "fuse_attention");
  EXPECT_EQ(found[0].names(), (NodeNames{"turn", "product", "scale", "softmax", "weigh"}));
  ASSERT_EQ(found[0].candidates.size(), 1u);
  EXPECT_EQ(found[0].candidates[0].trial.config.at("fused"), "nothing");
}

TEST(Subgraph, of_elementwise_operators_falls_apart_into_all_of_them) {
  const char* const text = R"(graph "g" {
  input %x : f32[2, 3]
  input %r : f32[2, 3]
  const %half : f32[] = [0.5]
  %a = Add@14(%x, %r) "sum"
  %b = Mul@14(%half, %a) "scale"
  %y = Tanh@13(%b) "tanh"
  output %y
})";
  const std::vector<Subgraph> found = Opened(text).subgraphs();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pass, "fuse_vectors");
  EXPECT_EQ(found[0].names(), (NodeNames{"sum", "scale", "tanh"}));
  const Opened apart(text, partitioned({}, found, {{0, found[0].candidates[0].trial}}));
  EXPECT_EQ(apart.labels(), (std::vector<std::string>{"sum", "scale", "tanh"}));
}

TEST(Subgraph, records_read_as_sentences) {
  const std::vector<Subgraph> found = Opened(test::kTwins).subgraphs();
  EXPECT_EQ(subgraph_sentence(found[0].key, found[0].candidates[0].trial.config),
            "what fuse_epilogues would fuse here is left apart: MatMul + Add + Relu");
  EXPECT_EQ(subgraph_sentence(found[0].key, found[0].candidates[1].trial.config),
            "of what fuse_epilogues would fuse here, MatMul + Add is fused and Relu left apart");
  EXPECT_EQ(subgraph_sentence("Relu@14(f32[4]) -> (f32[4]) {}", {{"impl", "jit"}}), "");
}

}  // namespace
}  // namespace attune
