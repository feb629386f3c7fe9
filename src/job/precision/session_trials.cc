#include "job/precision/session_trials.h"

#include "job/precision/output_error.h"
#include "job/tuning_task.h"
#include "rewrite/pipeline.h"

#include <algorithm>
#include <map>

namespace attune {
namespace {

constexpr uint64_t kSets = 3, kNewSets = 2;  // of random inputs
constexpr uint64_t kNewSeeds = 1000;         // where those of new inputs begin, after the first seed
constexpr std::string_view kPass = "use_bf16";

/// The passes before use_bf16, or the others.
enum class Part : uint8_t { before, rest };
std::vector<std::string> passes_of(Part part) {
  std::vector<std::string> names;
  bool is_before = true;
  for (const rewrite::PassEntry& entry : rewrite::passes()) {
    if (entry.name == kPass) is_before = false;
    if (is_before == (part == Part::before)) names.emplace_back(entry.name);
  }
  return names;
}

/// Most of the rewriting is the same whatever is lowered; it is done once.
Graph prepare(Graph graph, const SessionOptions& options) {
  rewrite::PipelineOptions passes;
  passes.left_alone = options.left_alone;
  passes.asked_for = options.asked_for;
  passes.switched_off.insert(options.without_passes.begin(), options.without_passes.end());
  const std::vector<std::string> later = passes_of(Part::rest);
  passes.switched_off.insert(later.begin(), later.end());
  rewrite::run_pipeline(graph, passes);
  return graph;
}

SessionOptions without(SessionOptions options, Part part) {
  const std::vector<std::string> names = passes_of(part);
  options.without_passes.insert(options.without_passes.end(), names.begin(), names.end());
  return options;
}

}  // namespace

double error_on(const Session& session, std::span<const KnownOutputs> known) {
  double worst = 0;
  for (const KnownOutputs& one : known) worst = std::max(worst, output_error(session.run(one.inputs), one.outputs));
  return worst;
}

SessionTrials::SessionTrials(Graph graph, SessionOptions options, PrecisionInputs inputs, CompareSessions compare,
                             std::function<bool()> stop)
    : graph_(prepare(std::move(graph), options)),
      options_(std::move(options)),
      inputs_(std::move(inputs)),
      compare_(std::move(compare)),
      stop_(std::move(stop)),
      regions_(rewrite::bf16_regions(graph_)) {
  f32_.emplace(Graph(graph_), without(options_, Part::before));
  const uint64_t sets = inputs_.origin == InputOrigin::random ? kSets : 1;
  for (uint64_t i = 0; i < sets; ++i) known_.push_back(make_known(inputs_.seed + i));
  if (inputs_.origin == InputOrigin::random)
    for (uint64_t i = 0; i < sets; ++i) seeds_.push_back(inputs_.seed + i);
}

KnownOutputs SessionTrials::make_known(uint64_t seed) const {
  KnownOutputs known;
  known.inputs = inputs_.make(f32_->graph(), seed);
  known.outputs = f32_->run(known.inputs);
  return known;
}

SessionOptions SessionTrials::options_for(const Lowered& lowered) const {
  SessionOptions options = options_;
  if (lowered.empty()) return options;
  options.dtype = DType::bf16;
  rewrite::LeftAlone& left_alone = options.left_alone[std::string(kPass)];
  for (size_t i = 0; i < regions_.size(); ++i)
    if (lowered.count(i) == 0) left_alone.insert(regions_[i].nodes.begin(), regions_[i].nodes.end());
  return options;
}

const Session& SessionTrials::session(const Lowered& lowered) {
  if (lowered.empty()) return *f32_;
  if (!made_session_ || made_ != lowered) {
    made_session_.reset();  // before the next one takes memory
    made_session_.emplace(Graph(graph_), without(options_for(lowered), Part::before));
    made_ = lowered;
  }
  return *made_session_;
}

double SessionTrials::error(const Lowered& lowered, InputChoice inputs) {
  const Session& asked = session(lowered);
  if (inputs == InputChoice::first) return error_on(asked, std::span(known_).first(1));
  return std::max(error_on(asked, known_), error_on(asked, new_known_));
}

double SessionTrials::new_error(const Lowered& lowered) {
  if (inputs_.origin == InputOrigin::given) return 0;
  const uint64_t begin = new_seeds_.empty() ? inputs_.seed + kNewSeeds : new_seeds_.back() + 1;
  seeds_.insert(seeds_.end(), new_seeds_.begin(), new_seeds_.end());
  std::move(new_known_.begin(), new_known_.end(), std::back_inserter(known_));
  new_seeds_.clear();
  new_known_.clear();
  for (uint64_t seed = begin; seed < begin + kNewSets; ++seed) {
    new_seeds_.push_back(seed);
    new_known_.push_back(make_known(seed));
  }
  return error_on(session(lowered), new_known_);
}

/// A step belongs to the product that it is or follows; those before the first product to none.
std::vector<double> SessionTrials::region_ms(const Plan& plan, const std::vector<double>& step_ms) const {
  std::map<std::string_view, size_t> products;
  for (size_t i = 0; i < regions_.size(); ++i) products.emplace(regions_[i].product, i);
  std::vector<double> result(regions_.size(), 0);
  std::optional<size_t> region;
  for (size_t i = 0; i < plan.steps.size() && i < step_ms.size(); ++i) {
    if (const auto found = products.find(plan.steps[i].label); found != products.end()) region = found->second;
    if (region) result[*region] += step_ms[i];
  }
  return result;
}

LoweredRuns SessionTrials::compare(const Lowered& lowered, double seconds) {
  const Session& after = session(lowered);
  const std::vector<Tensor>& inputs = known_.front().inputs;
  CompareOptions options;
  options.seconds = seconds;
  options.seed = ++comparisons_;
  options.stop = stop_;
  LoweredRuns runs;
  runs.whole = compare_(*f32_, after, inputs, options);
  const auto before_ms = region_ms(*f32_->plan(inputs), median_steps(runs.whole.before_step_ms));
  const auto after_ms = region_ms(*after.plan(inputs), median_steps(runs.whole.after_step_ms));
  for (size_t i = 0; i < regions_.size(); ++i) {
    constexpr double kUnknownMs = 1e-6;  // inside of a loop, say: no reason for or against it
    runs.saved_ms.push_back(before_ms[i] > 0 && after_ms[i] > 0 ? before_ms[i] - after_ms[i] : kUnknownMs);
  }
  return runs;
}

Session SessionTrials::take_session(const Lowered& lowered) {
  session(lowered);
  return std::move(lowered.empty() ? *f32_ : *made_session_);
}

std::vector<KnownOutputs> SessionTrials::known() const {
  std::vector<KnownOutputs> result = known_;
  result.insert(result.end(), new_known_.begin(), new_known_.end());
  return result;
}

}  // namespace attune
