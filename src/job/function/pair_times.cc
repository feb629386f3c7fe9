#include "job/function/pair_times.h"

#include "base/random.h"
#include "base/statistics.h"
#include "job/function/isolated.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <new>

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

/// Times of one configuration, one sample after the other.
class Sampler {
 public:
  Sampler(const TunableFunction& function, const Dims& shape, const Config& config)
      : function_(function), shape_(shape), config_(config) {
    if (!function.build) return;
    candidate_ = function.build(shape, config);
    if (!candidate_.run) throw std::runtime_error("build() returned nothing to run");
  }

  /// What is wrong after one call; empty: nothing.
  std::string check() {
    if (!function_.build) return "";
    candidate_.run();
    return candidate_.check ? candidate_.check() : "";
  }
  void calibrate(double min_sample_us) {
    if (!function_.build) return;
    const double one_us = std::max(calls_ns(1) / 1000, 0.001);
    calls_ = std::clamp<int64_t>(std::llround(std::ceil(min_sample_us / one_us)), 1, 1'000'000);
  }
  double sample_ns() {
    if (function_.build) return calls_ns(calls_) / static_cast<double>(calls_);
    const double time = function_.evaluate(shape_, config_);
    if (!(time > 0) || !std::isfinite(time)) throw std::runtime_error(fmt::format("evaluate() returned {} ns", time));
    return time;
  }

 private:
  double calls_ns(int64_t count) {
    const auto begin = Clock::now();
    for (int64_t i = 0; i < count; ++i) candidate_.run();
    return std::max(1.0, std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }

  const TunableFunction& function_;
  const Dims& shape_;
  const Config& config_;
  FunctionCandidate candidate_;
  int64_t calls_ = 1;
};

PairTimes failed(Outcome outcome, std::string message) { return {outcome, std::move(message), {}, {}}; }

PairTimes measure_here(const TunableFunction& function, const Dims& shape, const Config& candidate,
                       const Config& standard, const PairOptions& options) {
  const auto begin = Clock::now();
  PairTimes times;
  Sampler tried(function, shape, candidate);
  if (std::string wrong = tried.check(); !wrong.empty()) return failed(Outcome::wrong, std::move(wrong));
  Sampler beside(function, shape, standard);
  beside.check();
  tried.calibrate(options.min_sample_us);
  beside.calibrate(options.min_sample_us);
  Random random(options.seed);
  for (int i = 0; i < options.pairs; ++i) {
    const bool candidate_first = random.below(2) == 0;
    if (!candidate_first) times.default_ns.push_back(beside.sample_ns());
    times.candidate_ns.push_back(tried.sample_ns());
    if (candidate_first) times.default_ns.push_back(beside.sample_ns());
    if (i == 0 && times.candidate_ns[0] > options.give_up_ratio * times.default_ns[0]) break;
    if (Clock::now() - begin > options.timeout) break;  // what there is by now counts
  }
  // Once more: a result that is right the first time only is not.
  if (std::string wrong = tried.check(); !wrong.empty()) return failed(Outcome::wrong, std::move(wrong));
  return times;
}

/// Whatever the user's code throws is a value.
PairTimes measure_caught(const TunableFunction& function, const Dims& shape, const Config& candidate,
                         const Config& standard, const PairOptions& options) {
  try {
    return measure_here(function, shape, candidate, standard, options);
  } catch (const std::bad_alloc&) {
    return failed(Outcome::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    return failed(Outcome::refused, error.what());
  } catch (...) {
    return failed(Outcome::refused, "an exception that is no std::exception");
  }
}

std::string to_message(const PairTimes& times) {
  return Json{{"outcome", outcome_name(times.outcome)},
              {"message", times.message},
              {"candidate_ns", times.candidate_ns},
              {"default_ns", times.default_ns}}
      .dump(-1, ' ', true, Json::error_handler_t::replace);
}

PairTimes of_message(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    const auto outcome = outcome_of_name(json.at("outcome").get<std::string>());
    return {outcome.value_or(Outcome::infrastructure), json.at("message"), json.at("candidate_ns"),
            json.at("default_ns")};
  } catch (const Json::exception&) {
    return failed(Outcome::crashed, "it wrote into what was not its own, or ended the process");
  }
}

}  // namespace

double PairTimes::time_ns() const { return candidate_ns.empty() ? 0 : median_of(candidate_ns); }
double PairTimes::default_time() const { return default_ns.empty() ? 0 : median_of(default_ns); }

Ratio PairTimes::ratio(double confidence) const {
  std::vector<double> ratios;
  for (size_t i = 0; i < candidate_ns.size(); ++i) ratios.push_back(candidate_ns[i] / default_ns.at(i));
  if (ratios.empty()) return {};
  const Interval interval = sign_test_interval(ratios, confidence);
  return {median_of(ratios), interval.low, interval.high};
}

PairTimes measure_pairs(const TunableFunction& function, const Dims& shape, const Config& candidate,
                        const Config& standard, const PairOptions& options) {
  if (!options.in_child_process) return measure_caught(function, shape, candidate, standard, options);
  const IsolatedResult result = run_isolated(
      [&] { return to_message(measure_caught(function, shape, candidate, standard, options)); }, options.timeout);
  if (result.outcome != Outcome::ok) return failed(result.outcome, result.message);
  return of_message(result.text);
}

}  // namespace attune
