#include "tune/measure/timing.h"

#include "base/random.h"
#include "base/statistics.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace attune::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMostCallsInSample = 1'000'000;

double calls_ns(KernelInstance& instance, int64_t calls) {
  const auto begin = Clock::now();
  for (int64_t i = 0; i < calls; ++i) instance.call();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / static_cast<double>(calls);
}

/// One call by the best of three, the first of which touches the memory for the first time; remembered.
double call_ns(KernelInstance& instance) {
  if (instance.call_ns == 0)
    for (int i = 0; i < 3; ++i) {
      const double ns = calls_ns(instance, 1);
      instance.call_ns = i == 0 ? ns : std::min(instance.call_ns, ns);
    }
  return instance.call_ns;
}

/// Calls of a sample that takes long enough. A clock that ticks in nanoseconds cannot tell less than a few dozen.
int64_t calls_in_sample(KernelInstance& instance, double min_sample_us) {
  const double calls = std::ceil(min_sample_us * 1000 / std::max(call_ns(instance), 20.0));
  const int64_t least = std::clamp<int64_t>(std::llround(calls), 1, kMostCallsInSample);
  // Whole turns through the copies of the constants, so that every sample reads the same memory.
  const auto copies = static_cast<int64_t>(instance.copies());
  return least < copies ? least : (least + copies - 1) / copies * copies;
}

/// Times that the scheduler took a running thread of this process away so far.
int64_t preemptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

PairTimes time_pairs(KernelInstance& candidate, KernelInstance& anchor, const PairsRequest& request,
                     const Entering& entering) {
  PairTimes times;
  entering(1);
  const double anchor_first = call_ns(anchor);
  entering(0);
  const double candidate_first = call_ns(candidate);
  const double best = std::exp(request.best_log_ratio);
  if (candidate_first > request.abort_ratio * best * anchor_first) {
    times.candidate_ns.push_back(candidate_first);
    times.anchor_ns.push_back(anchor_first);
    return times;
  }
  const int64_t calls[2] = {calls_in_sample(candidate, request.min_sample_us),
                            calls_in_sample(anchor, request.min_sample_us)};
  Random random(request.seed);
  std::vector<double> ratios;
  for (const Rung& rung : request.rungs) {
    if (!ratios.empty() && median_of(ratios) > std::log(rung.within) + request.best_log_ratio) break;
    while (static_cast<int>(ratios.size()) < rung.pairs) {
      const int64_t before = preemptions();
      double ns[2] = {0, 0};  // the candidate's, the anchor's
      const int first = static_cast<int>(random.below(2));
      for (const int which : {first, 1 - first}) {
        KernelInstance& instance = which == 0 ? candidate : anchor;
        entering(which);
        instance.call();  // its code and its part of the caches come back before the clock starts
        ns[which] = calls_ns(instance, calls[which]);
      }
      times.disturbed += preemptions() > before ? 1 : 0;
      times.candidate_ns.push_back(ns[0]);
      times.anchor_ns.push_back(ns[1]);
      ratios.push_back(std::log(ns[0] / ns[1]));
    }
  }
  return times;
}

RoundTimes time_rounds(std::span<KernelInstance* const> entrants, const RoundsRequest& request,
                       const Entering& entering) {
  RoundTimes times;
  times.ns.resize(entrants.size());
  std::vector<int64_t> calls;
  for (size_t i = 0; i < entrants.size(); ++i) {
    entering(static_cast<int>(i));
    calls.push_back(calls_in_sample(*entrants[i], request.min_sample_us));
  }
  Random random(request.seed);
  std::vector<size_t> order(entrants.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (int round = 0; round < request.rounds; ++round) {
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
    const int64_t before = preemptions();
    for (const size_t i : order) {
      entering(static_cast<int>(i));
      entrants[i]->call();
      times.ns[i].push_back(calls_ns(*entrants[i], calls[i]));
    }
    times.disturbed += preemptions() > before ? 1 : 0;
  }
  return times;
}

}  // namespace attune::tune
