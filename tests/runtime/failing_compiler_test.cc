// Plans where generated kernels are offered and then cannot be built: the library's run instead.
#include "codegen/isa.h"
#include "graph/text.h"
#include "ops/infer_graph.h"
#include "providers/generated/generated_provider.h"
#include "providers/providers.h"
#include "runtime/planner.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attune {
namespace {

/// Offers what the generators do; its compiler always fails.
class FailingCompiler final : public Provider {
 public:
  std::string_view name() const override { return "generated"; }
  std::variant<Offer, Refusal> offer(const Workload& workload) const override { return generated_.offer(workload); }
  std::unique_ptr<Kernel> build(const Workload& workload, const Config&) const override {
    throw UserError("generated code for {} cannot be built: no space left on device", workload.key());
  }

 private:
  GeneratedProvider generated_;
};

constexpr const char* kConvolutions = R"(graph "g" {
  input %x : f32[1, 64, 40, 40]
  input %w : f32[64, 64, 3, 3]
  input %v : f32[64, 64, 1, 1]
  %c = Conv@17(%x, %w) "filter" {pads = ints [1, 1, 1, 1]}
  %y = Conv@17(%c, %v) "point"
  output %y
})";

Plan plan_with(const Provider& compiler, bool first) {
  auto graph = std::make_shared<Graph>(parse_graph(kConvolutions));
  // Weights that are constant, without a text of 40,000 numbers.
  while (graph->inputs.size() > 1) {
    Value& weights = graph->value(graph->inputs.back());
    weights.constant = Tensor::zeros(DType::f32, *concrete(weights.shape));
    graph->inputs.pop_back();
  }
  const GraphFacts facts = infer_graph(*graph);
  PlanOptions options;
  for (const Provider* provider : providers())
    if (provider->name() != "generated") options.providers.push_back(provider);
  options.providers.insert(first ? options.providers.begin() : options.providers.end() - 1, &compiler);
  PlanCache cache;
  return make_plan(graph, facts, options, cache);
}

TEST(FailingCompiler, leaves_convolutions_to_the_library_and_says_why) {
  const auto all = providers();
  const bool library = std::ranges::any_of(all, [](const Provider* one) { return one->name() == "onednn"; });
  if (usable_isa() < Isa::avx2 || !library) GTEST_SKIP() << "nothing is generated here, or nothing is there instead";
  const FailingCompiler compiler;
  for (const bool first : {false, true}) {
    const Plan plan = plan_with(compiler, first);
    int explained = 0;
    for (const Step& step : plan.steps) {
      EXPECT_NE(step.provider, "generated") << step.label;
      explained += step.reason.find("no space left on device") != std::string::npos;
    }
    EXPECT_EQ(explained > 0, first);
  }
}

}  // namespace
}  // namespace attune
