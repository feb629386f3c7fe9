#include "job/layout_stage.h"

#include "base/statistics.h"
#include "job/assign_labels.h"
#include "job/check_outputs.h"
#include "job/layout_regions.h"
#include "job/tuning_task.h"

#include <algorithm>
#include <chrono>
#include <memory>

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

/// A session with all convolutions in one layout, or the default.
struct Uniform {
  Layout layout;
  const Session* session;
  std::unique_ptr<Session> own;  // where `session` is not that of the caller
  std::vector<double> run_ms;
  std::vector<std::vector<double>> step_ms;
};

Session make_session(const Session& before, SessionOptions options) {
  options.rewrite = false;  // the graph is that of a session
  return Session(Graph(before.graph()), std::move(options));
}

/// The layout that each convolution of a plan gives its result in.
std::map<std::string, Layout> layouts_of(const Plan& plan, const LayoutRegions& regions) {
  std::map<std::string, Layout> result;
  for (const Step& step : plan.steps)
    if (step.node != nullptr && std::ranges::find(regions.convolutions, step.label) != regions.convolutions.end())
      result[step.label] = step.workload.output(0).layout;
  return result;
}

Layout most_frequent(const std::map<std::string, Layout>& layouts) {
  std::map<Layout, int> count;
  for (const auto& [node, layout] : layouts) ++count[layout];
  return std::ranges::max_element(count, {}, [](const auto& entry) { return entry.second; })->first;
}

/// The default, and every other layout as far as the model's convolutions can be had in it.
std::vector<Uniform> open_layouts(const Session& before, std::span<const Tensor> inputs, const LayoutRegions& regions,
                                  const LayoutStageOptions& options) {
  std::vector<Uniform> sessions;
  sessions.push_back({most_frequent(layouts_of(*before.plan(inputs), regions)), &before, nullptr, {}, {}});
  for (const LayoutChoice choice : {LayoutChoice::nhwc, LayoutChoice::blocked, LayoutChoice::nchw}) {
    if (options.stop()) break;
    SessionOptions forced = options.session;
    forced.layout = choice;
    auto own = std::make_unique<Session>(make_session(before, std::move(forced)));
    const Layout layout = most_frequent(layouts_of(*own->plan(inputs), regions));
    if (std::ranges::find(sessions, layout, &Uniform::layout) != sessions.end()) continue;
    const Session* session = own.get();
    sessions.push_back({layout, session, std::move(own), {}, {}});
  }
  return sessions;
}

void run_in_turn(std::vector<Uniform>& sessions, std::span<const Tensor> inputs, const LayoutStageOptions& options) {
  constexpr int kLeastRounds = 5, kMostRounds = 100;
  const auto begin = Clock::now();
  for (int round = 0; round < kMostRounds && !options.stop(); ++round) {
    if (round >= kLeastRounds && std::chrono::duration<double>(Clock::now() - begin).count() > options.seconds) break;
    for (Uniform& one : sessions) {
      one.session->run(inputs);  // finds the caches full of the other's weights
      std::vector<double> steps;
      const auto start = Clock::now();
      one.session->run(inputs, {.step_ms = &steps});
      one.run_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
      one.step_ms.push_back(std::move(steps));
    }
  }
}

LabelProblem weigh(const std::vector<Uniform>& sessions, std::span<const Tensor> inputs, const LayoutRegions& regions) {
  constexpr double kInertia = 0.03;         // of a region's time: what noise alone makes of equal layouts
  constexpr double kConversionRate = 2e-7;  // ms for a byte, where no plan converts anything: 5 GB/s
  LabelProblem problem;
  problem.costs.resize(regions.convolutions.size());
  double rate = 0;
  for (const Uniform& one : sessions) {
    const auto plan = one.session->plan(inputs);
    const std::vector<double> step_ms = median_steps(one.step_ms);
    const std::vector<double> times = region_times(regions, *plan, step_ms);
    const double inertia = one.own ? kInertia : 0;
    for (size_t i = 0; i < times.size(); ++i) problem.costs[i].push_back(times[i] * (1 + inertia));
    rate = std::max(rate, conversion_rate(*plan, step_ms));
  }
  if (rate <= 0) rate = kConversionRate;
  for (const LayoutRegions::Border& border : regions.borders)
    problem.links.push_back({border.from, border.to, rate * static_cast<double>(border.bytes)});
  return problem;
}

/// Runs the model with the choice beside its default, twice, the second time elsewhere in memory; true where it is
/// right and clearly faster. Kernels are chosen for the layouts afterwards, so a small head start may turn out to be
/// none.
bool confirm(const Session& before, std::span<const Tensor> inputs, const LayoutStageOptions& options,
             LayoutFindings& findings) {
  constexpr double kLeastGain = 0.02;
  SessionOptions chosen = options.session;
  chosen.node_layouts = findings.node_layouts;
  const std::string what =
      fmt::format("{} of {} convolutions in another layout", findings.moved, findings.convolutions);
  const Session after = make_session(before, chosen);
  if (const std::string problem = check_outputs(before, after, inputs).problem; !problem.empty()) {
    findings.conclusion = fmt::format("layouts stay as they are: with {}, {}", what, problem);
    return false;
  }
  CompareOptions compare;
  compare.seconds = options.seconds;
  compare.seed = options.seed;
  compare.stop = options.stop;
  SessionComparison& measured = findings.comparison.emplace(compare_sessions(before, after, inputs, compare));
  const auto is_clear = [&] { return measured.faster() && measured.ratio > 1 + kLeastGain; };
  if (is_clear()) measured.add(compare_sessions(before, make_session(before, chosen), inputs, compare));
  const std::string ratio = fmt::format("{:.2f}x as fast ({:.2f} to {:.2f})", measured.ratio,
                                        measured.ratio_interval.low, measured.ratio_interval.high);
  findings.conclusion = is_clear() ? fmt::format("{} make the model {}", what, ratio)
                                   : fmt::format("layouts stay as they are: {} make it {}", what, ratio);
  return is_clear();
}

}  // namespace

std::optional<LayoutFindings> tune_layouts(const Session& before, std::span<const Tensor> inputs,
                                           const LayoutStageOptions& options) {
  if (options.session.layout != LayoutChoice::automatic) return std::nullopt;
  const auto plan = before.plan(inputs);
  const LayoutRegions regions = find_layout_regions(*plan);
  const std::map<std::string, Layout> by_rule = layouts_of(*plan, regions);
  if (by_rule.size() < 2) return std::nullopt;
  std::vector<Uniform> sessions = open_layouts(before, inputs, regions, options);
  if (sessions.size() < 2) return std::nullopt;
  run_in_turn(sessions, inputs, options);
  if (options.stop()) return std::nullopt;

  LayoutFindings findings;
  findings.convolutions = regions.convolutions.size();
  for (const Uniform& one : sessions) findings.uniform_ms.emplace_back(one.layout, median_of(one.run_ms));
  const LabelProblem problem = weigh(sessions, inputs, regions);
  const std::vector<size_t> labels = assign_labels(problem, std::vector<size_t>(regions.convolutions.size(), 0));
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == 0) continue;
    findings.node_layouts[regions.convolutions[i]] = sessions[labels[i]].layout;
    ++findings.moved;
  }
  sessions.clear();  // their weights are packed once each
  if (findings.moved == 0) {
    findings.conclusion = "layouts stay as they are: nothing gains more by another than conversions cost";
  } else if (!confirm(before, inputs, options, findings)) {
    findings.node_layouts.clear();
  }
  return findings;
}

}  // namespace attune
