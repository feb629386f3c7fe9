// Random graphs through every pass, the whole pipeline and planned sessions, against the reference executor. The seed
// is printed; ATTUNE_RANDOM_SEED and ATTUNE_RANDOM_COUNT repeat a run or make a long one.
#include "io/temp_folder.h"
#include "providers/providers.h"
#include "rewrite/pipeline.h"
#include "rewrite/random_graph/check_graph.h"
#include "runtime/executor.h"
#include "runtime/plan_file.h"
#include "runtime/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>

namespace attune::test {
namespace {

uint64_t first_seed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("ATTUNE_RANDOM_SEED");
    const uint64_t value = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "random graphs from seed " << value << " on\n";
    return value;
  }();
  return seed;
}

/// Calls `check` with one graph after the other; it returns what is wrong.
void for_each_graph(int count, const std::function<std::string(const RandomGraph&)>& check) {
  if (const char* given = std::getenv("ATTUNE_RANDOM_COUNT")) count = std::atoi(given);
  int failures = 0;
  for (int i = 0; i < count && failures < 20; ++i) {
    const uint64_t seed = first_seed() + static_cast<uint64_t>(i);
    const std::string failure = check(make_random_graph(seed));
    if (failure.empty()) continue;
    ++failures;
    ADD_FAILURE() << "ATTUNE_RANDOM_SEED=" << seed << " ATTUNE_RANDOM_COUNT=1: " << failure;
  }
}

Runner after_passes(const rewrite::PipelineOptions& options) {
  return [options](const Graph& graph, const std::vector<Tensor>& inputs) {
    Graph rewritten = graph;
    rewrite::run_pipeline(rewritten, options);
    return ReferenceExecutor(rewritten).run(inputs);
  };
}

/// Twice, since what the first run leaves in buffers must not matter to the second.
Runner in_session(const SessionOptions& options) {
  return [options](const Graph& graph, const std::vector<Tensor>& inputs) {
    const Session session(graph, options);
    session.run(inputs);
    return session.run(inputs);
  };
}

std::string named(std::string_view what, const std::string& failure) {
  return failure.empty() ? "" : fmt::format("{}: {}", what, failure);
}

TEST(RandomGraphs, keep_their_results_under_each_pass_alone) {
  for_each_graph(60, [](const RandomGraph& sample) {
    std::string failures;
    for (const rewrite::PassEntry& entry : rewrite::passes()) {
      if (entry.on_request) continue;  // those change results
      rewrite::PipelineOptions options;
      for (const rewrite::PassEntry& other : rewrite::passes())
        if (other.name != entry.name) options.switched_off.insert(std::string(other.name));
      failures += named(entry.name, check_graph(sample, after_passes(options)));
    }
    return failures;
  });
}

TEST(RandomGraphs, keep_their_results_under_the_whole_pipeline) {
  for_each_graph(200, [](const RandomGraph& sample) { return check_graph(sample, after_passes({})); });
}

TEST(RandomGraphs, keep_their_results_where_all_that_can_be_asked_for_is_fused) {
  for_each_graph(100, [](const RandomGraph& sample) {
    Graph rewritten = sample.graph;
    rewrite::PipelineOptions options;
    for (const rewrite::PassResult& result : rewrite::run_pipeline(rewritten))
      for (const rewrite::Place& place : result.places)
        if (!place.is_fused) options.asked_for[std::string(result.name)].names.insert(place.anchor.name);
    return options.asked_for.empty() ? "" : check_graph(sample, after_passes(options));
  });
}

/// The sampler is only worth what it reaches.
TEST(RandomGraphs, give_every_pass_something_to_do) {
  constexpr uint64_t kSeed = 1;
  std::map<std::string, int> changes;
  size_t nodes = 0;
  for (uint64_t i = 0; i < 400; ++i) {
    Graph graph = make_random_graph(kSeed + i).graph;
    nodes += graph.nodes().size();
    for (const rewrite::PassResult& result : rewrite::run_pipeline(graph)) {
      const auto possible = std::ranges::count(result.places, false, &rewrite::Place::is_fused);
      changes[std::string(result.name)] += result.changes + static_cast<int>(possible);
    }
  }
  for (const auto& [pass, count] : changes) {
    // Those on bytes have tests of their own: where a sum ends up between two bytes, rounding decides.
    if (pass == "compute_in_bytes" || pass == "center_weights") continue;
    EXPECT_GE(count, 3) << pass;
  }
  EXPECT_GE(nodes, 400u * 15);
}

TEST(RandomGraphs, stay_close_in_bf16) {
  for_each_graph(60, [](const RandomGraph& sample) {
    rewrite::PipelineOptions options;
    options.switched_on.insert("use_bf16");
    // A millionth becomes a part in 256; where that decides over steps, all that can be asked for is a result. The
    // place of the largest of nearly equal elements is such a decision.
    constexpr double kAny = std::numeric_limits<double>::infinity();
    return check_graph(sample, after_passes(options), {.relative = 0.25, .sensitivity = 1e5, .integers = kAny});
  });
}

TEST(RandomGraphs, run_in_sessions_as_by_the_reference) {
  for_each_graph(100, [](const RandomGraph& sample) {
    SessionOptions plain;
    plain.rewrite = false;
    return named("session", check_graph(sample, in_session({}))) +
           named("session without rewriting", check_graph(sample, in_session(plain)));
  });
}

TEST(RandomGraphs, run_in_forced_layouts_as_by_the_reference) {
  for_each_graph(60, [](const RandomGraph& sample) {
    std::string failures;
    for (const auto& [name, layout] :
         {std::pair{"nchw", LayoutChoice::nchw}, {"nhwc", LayoutChoice::nhwc}, {"blocked", LayoutChoice::blocked}}) {
      SessionOptions options;
      options.layout = layout;
      failures += named(name, check_graph(sample, in_session(options)));
    }
    return failures;
  });
}

TEST(RandomGraphs, run_from_saved_plans_as_by_the_reference) {
  for_each_graph(20, [](const RandomGraph& sample) {
    return check_graph(sample, [](const Graph& graph, const std::vector<Tensor>& inputs) {
      const TempFolder folder;
      save_plan(Session(graph), inputs, folder.file("random.plan"));
      return load_plan(folder.file("random.plan")).run(inputs);
    });
  });
}

TEST(RandomGraphs, run_in_sessions_of_each_provider_as_by_the_reference) {
  for_each_graph(30, [](const RandomGraph& sample) {
    std::string failures;
    for (const Provider* provider : providers()) {
      SessionOptions options;
      options.providers = {std::string(provider->name())};
      failures += named(provider->name(), check_graph(sample, in_session(options)));
    }
    return failures;
  });
}

}  // namespace
}  // namespace attune::test
