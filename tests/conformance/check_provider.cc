#include "conformance/check_provider.h"

#include "base/hash.h"
#include "base/random.h"
#include "space/space.h"
#include "tune/measure/check_kernel.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <set>

namespace attune::testing {

using namespace tune;

namespace {

/// What the body throws, as a failure; nothing thrown: what it returns.
template <class Body> std::string failure_of(Body&& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    return fmt::format("it threw: {}", error.what());
  }
}

std::string check_unknown_config(const Provider& provider, const Workload& workload) {
  try {
    static_cast<void>(provider.build(workload, {{"no such parameter", "1"}}));
  } catch (const UserError&) {
    return "";
  }
  return "it built a config that it had not offered";
}

/// How many configs of a long offer are tried: all, but a few where a kernel takes long to compile (instrumented code)
/// or where the same generators run again for another instruction set (ATTUNE_CONFORMANCE_MOST=N).
constexpr size_t kAllConfigs = std::numeric_limits<size_t>::max();
size_t most_configs() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr size_t kDefault = 3;
#else
  constexpr size_t kDefault = kAllConfigs;
#endif
  const char* most = std::getenv("ATTUNE_CONFORMANCE_MOST");
  return most ? std::max<size_t>(1, std::stoul(most)) : kDefault;
}

/// A few of a long offer: its first, which is the default, and others up to the last.
std::vector<Config> thinned(std::vector<Config> configs) {
  const size_t most = most_configs();
  if (configs.size() <= most) return configs;
  std::vector<Config> some;
  for (size_t i = 0; i < most; ++i) some.push_back(configs[most == 1 ? 0 : i * (configs.size() - 1) / (most - 1)]);
  return some;
}

/// What the offer does not list: a few points of the space, drawn by the workload's key, so that another run draws the
/// same.
std::vector<Config> random_configs(const Provider& provider, const Workload& workload, const std::set<Config>& known) {
  const int draws = most_configs() == kAllConfigs ? 2 : 1;
  const Space space = provider.space(workload);
  const std::string key = workload.key();
  Random random(hash_bytes(std::as_bytes(std::span(key))));
  std::set<Config> drawn;
  for (int i = 0; i < draws && space.size() > known.size(); ++i)
    if (Config config = space.at(space.sample(random)); known.count(config) == 0) drawn.insert(std::move(config));
  return {drawn.begin(), drawn.end()};
}

}  // namespace

ProviderCheck check_provider(const Provider& provider, const Workload& workload, const std::vector<Example>& examples) {
  ProviderCheck result;
  const auto fail = [&](const std::string& config, const std::string& seed, const std::string& problem) {
    if (problem.empty()) return;
    result.failures.push_back(fmt::format("provider {}\n  config   {}\n  workload {}\n  seed     {}\n  {}",
                                          provider.name(), config, workload.key(), seed, problem));
  };
  std::variant<Offer, Refusal> answer;
  fail("-", "-", failure_of([&] {
         answer = provider.offer(workload);
         return std::string();
       }));
  if (!result.failures.empty()) return result;
  if (const auto* refused = std::get_if<Refusal>(&answer)) {
    result.refusal = refused->reason;
    if (refused->reason.empty()) fail("-", "-", "it refused without a reason");
    return result;
  }
  auto configs = std::get<Offer>(answer).configs;
  if (configs.empty()) fail("-", "-", "its offer has no configs; that is a refusal");
  const std::set<Config> known(configs.begin(), configs.end());
  if (known.size() != configs.size()) fail("-", "-", "it offered the same config twice");
  configs = thinned(std::move(configs));
  fail("of its space", "-", failure_of([&] {
         std::ranges::copy(random_configs(provider, workload, known), std::back_inserter(configs));
         return std::string();
       }));
  fail("not offered", "-", failure_of([&] { return check_unknown_config(provider, workload); }));
  for (const Config& config : configs) {
    ++result.configs;
    std::unique_ptr<Kernel> kernel;
    const std::string name = "{" + to_text(config) + "}";
    fail(name, "-", failure_of([&] {
           kernel = provider.build(workload, config);
           return std::string(kernel ? "" : "it built nothing");
         }));
    if (!kernel) continue;
    for (const Example& example : examples)
      fail(name, std::to_string(example.seed),
           failure_of([&] { return check_kernel(*kernel, workload, example).problem; }));
  }
  return result;
}

}  // namespace attune::testing
