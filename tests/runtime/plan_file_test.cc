#include "runtime/plan_file.h"

#include "io/temp_folder.h"
#include "runtime/random_inputs.h"
#include "zoo/zoo.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace attune {
namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dims() == b.dims() && std::memcmp(a.bytes(), b.bytes(), static_cast<size_t>(a.size_bytes())) == 0;
}

std::string read_all(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string refusal_of(const std::filesystem::path& path) {
  try {
    load_plan(path);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

class PlanFile : public ::testing::Test {
 protected:
  void SetUp() override {
    zoo::Options options;
    options.image_size = 64;
    graph_ = zoo::build("shufflenetv2", options);
    inputs_ = random_inputs(graph_, {}, 4);
  }
  TempFolder folder_;
  Graph graph_;
  std::vector<Tensor> inputs_;
};

TEST_F(PlanFile, a_loaded_plan_runs_the_same_kernels_to_the_same_bits) {
  const Session session(graph_);
  save_plan(session, inputs_, folder_.file("m.plan"));
  EXPECT_TRUE(is_plan_file(folder_.file("m.plan")));
  const Session loaded = load_plan(folder_.file("m.plan"));
  EXPECT_TRUE(same_bits(loaded.run(inputs_)[0], session.run(inputs_)[0]));
  const auto before = session.plan(inputs_), after = loaded.plan(inputs_);
  ASSERT_EQ(after->steps.size(), before->steps.size());
  for (size_t i = 0; i < before->steps.size(); ++i) {
    EXPECT_EQ(after->steps[i].label, before->steps[i].label);
    EXPECT_EQ(after->steps[i].provider, before->steps[i].provider);
    EXPECT_EQ(after->steps[i].config, before->steps[i].config);
    EXPECT_EQ(after->steps[i].alternatives.size(), before->steps[i].alternatives.size());
  }
}

TEST_F(PlanFile, other_shapes_are_planned_anew) {
  zoo::Options options;
  options.batch = 0;
  const Graph graph = zoo::build("lenet", options);
  const std::string name = graph.value(graph.inputs[0]).name;
  const auto one = random_inputs(graph, {{name, {1, 1, 28, 28}}}, 1),
             three = random_inputs(graph, {{name, {3, 1, 28, 28}}}, 1);
  const Session session(graph);
  save_plan(session, one, folder_.file("m.plan"));
  EXPECT_TRUE(same_bits(load_plan(folder_.file("m.plan")).run(three)[0], session.run(three)[0]));
}

TEST_F(PlanFile, a_damaged_foreign_or_truncated_plan_is_refused_with_a_reason) {
  const auto path = folder_.file("m.plan");
  save_plan(Session(graph_), inputs_, path);
  const std::string good = read_all(path);
  EXPECT_NE(refusal_of(folder_.write("short", good.substr(0, 40))).find("truncated"), std::string::npos);
  EXPECT_NE(refusal_of(folder_.write("half", good.substr(0, good.size() / 2))), "");
  EXPECT_NE(refusal_of(folder_.write("other", std::string(good.size(), 'x'))).find("not a plan"), std::string::npos);
  std::string newer = good;
  newer[16] = 9;  // format version
  EXPECT_NE(refusal_of(folder_.write("newer", newer)).find("format 9"), std::string::npos);
  for (size_t at = 64; at < good.size(); at += good.size() / 50) {
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    EXPECT_NE(refusal_of(folder_.write("flipped", flipped)).find("damaged"), std::string::npos) << "byte " << at;
  }
}

}  // namespace
}  // namespace attune
