// Compares kernels with themselves: how often does the measurer call identical code a tie? Takes the convolutions and
// matrix products of models as they are planned; every comparison runs in a worker process of its own, so that memory
// lies elsewhere each time.
//
//   measure_aa SECONDS [SEED] [MODEL…]      (default: 60 1 resnet50 bert_base mobilenetv2)
//
// Prints one row for each workload and the totals; goes through the workloads again and again until the time is up.
#include "base/random.h"
#include "providers/providers.h"
#include "runtime/random_inputs.h"
#include "runtime/session.h"
#include "tune/measure/measurer.h"
#include "tune/measure/worker.h"
#include "zoo/zoo.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

struct Subject {
  std::string name;  // of a step
  tune::MeasureTask task;
  tune::Trial trial;
  std::map<tune::Verdict, int> verdicts;
  std::vector<double> log_ratios, floors;
  double time_ns = 0;
};

bool is_product(const Workload& workload) {
  for (const char* op : {"Conv", "FusedConv", "MatMul", "FusedMatMul", "Gemm"})
    if (workload.op == op) return true;
  return false;
}

void add_subjects(const std::string& model, std::vector<Subject>& subjects) {
  const Session session(zoo::build(model, {}));
  const auto plan = session.plan(random_inputs(session.graph(), {}, 1));
  std::set<std::string> seen;
  for (const Step& step : plan->steps) {
    if (!step.kernel || step.provider != "onednn" || !is_product(step.workload)) continue;
    if (!seen.insert(step.workload.key()).second) continue;
    subjects.push_back({model + " " + step.label, {step.workload, {}}, {step.provider, step.config}, {}, {}, {}, 0});
  }
}

void compare_with_itself(Subject& subject, uint64_t seed, const tune::CeilingRates& ceilings) {
  tune::MeasurerOptions options;
  options.seed = seed;
  options.ceilings = ceilings;
  tune::Measurer measurer(options);
  const tune::Trial finalists[] = {subject.trial};
  const tune::Finals finals = measurer.finals(subject.task, subject.trial, finalists);
  if (!finals.problem.empty()) {
    std::fprintf(stderr, "%s: %s\n", subject.name.c_str(), finals.problem.c_str());
    return;
  }
  const tune::Judgement& judgement = finals.finalists[0].judgement;
  ++subject.verdicts[judgement.verdict];
  subject.log_ratios.push_back(std::abs(judgement.log_ratio));
  subject.floors.push_back(finals.noise_floor);
  subject.time_ns = finals.default_ns;
}

int run(double seconds, uint64_t seed, const std::vector<std::string>& models) {
  std::vector<Subject> subjects;
  for (const std::string& model : models) add_subjects(model, subjects);
  Random random(seed);
  for (size_t i = subjects.size(); i > 1; --i)
    std::swap(subjects[i - 1], subjects[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
  const tune::CeilingRates any = {{"f32", 1e9}};
  const auto begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  for (size_t i = 0; elapsed() < seconds; i = (i + 1) % subjects.size())
    compare_with_itself(subjects[i], random.next() >> 1, any);

  using tune::Verdict;
  std::map<Verdict, int> totals;
  std::vector<double> differences, floors;
  std::printf("%-44s %9s %5s %7s %7s %11s %10s %8s\n", "step", "us", "tie", "faster", "slower", "unresolved",
              "|median| %", "floor %");
  for (const Subject& subject : subjects) {
    if (subject.log_ratios.empty()) continue;
    const auto count = [&](Verdict verdict) {
      const auto found = subject.verdicts.find(verdict);
      return found == subject.verdicts.end() ? 0 : found->second;
    };
    std::printf("%-44s %9.1f %5d %7d %7d %11d %10.2f %8.2f\n", subject.name.c_str(), subject.time_ns / 1000,
                count(Verdict::tie), count(Verdict::faster), count(Verdict::slower), count(Verdict::unresolved),
                100 * median_of(subject.log_ratios), 100 * median_of(subject.floors));
    for (const auto& [verdict, times] : subject.verdicts) totals[verdict] += times;
    differences.insert(differences.end(), subject.log_ratios.begin(), subject.log_ratios.end());
    floors.insert(floors.end(), subject.floors.begin(), subject.floors.end());
  }
  if (differences.empty()) return 1;
  std::sort(differences.begin(), differences.end());
  std::sort(floors.begin(), floors.end());
  const auto all = static_cast<double>(differences.size());
  std::printf("comparisons %zu: tie %d (%.1f %%), faster %d, slower %d, unresolved %d\n", differences.size(),
              totals[Verdict::tie], 100 * totals[Verdict::tie] / all, totals[Verdict::faster], totals[Verdict::slower],
              totals[Verdict::unresolved]);
  std::printf("difference of identical code: median %.2f %%, p95 %.2f %%; noise floor: median %.2f %%, p95 %.2f %%\n",
              100 * quantile(differences, 0.5), 100 * quantile(differences, 0.95), 100 * quantile(floors, 0.5),
              100 * quantile(floors, 0.95));
  return totals[Verdict::tie] >= 0.95 * all ? 0 : 1;
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  if (const auto code = attune::tune::serve_if_worker(argc, argv, attune::providers())) return *code;
  std::vector<std::string> models(argv + std::min(argc, 3), argv + argc);
  if (models.empty()) models = {"resnet50", "bert_base", "mobilenetv2"};
  try {
    return attune::run(argc > 1 ? std::atof(argv[1]) : 60, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1, models);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "measure_aa: %s\n", error.what());
    return 1;
  }
}
