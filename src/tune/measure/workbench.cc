#include "tune/measure/workbench.h"

#include "base/float_mode.h"
#include "base/parallel.h"
#include "base/pinning.h"
#include "device/cpu/ceilings.h"
#include "tune/measure/check_kernel.h"
#include "tune/measure/imprint.h"
#include "tune/measure/sandbox.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

namespace attune::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostInstances = 16;  // built kernels that are kept: finalists, their default and its duplicate

Reply failure(Outcome outcome, std::string message) {
  Reply reply;
  reply.outcome = outcome;
  reply.message = std::move(message);
  return reply;
}

}  // namespace

Workbench::Workbench(std::span<const Provider* const> providers, Entering entering)
    : providers_(providers.begin(), providers.end()), entering_(std::move(entering)) {}

Reply Workbench::prepare(const PrepareRequest& request) {
  set_thread_count(request.threads);
  if (request.pin_workers) pin_pool_workers();
  const FlushDenormals pool_is_up;  // makes all threads of the pool, so that later ones are a kernel's
  limit_memory(request.memory_limit_bytes);
  return {};
}

Reply Workbench::ceilings() {
  Reply reply;
  for (const Ceiling& ceiling : measure_ceilings(cpu_info())) {
    reply.ceiling_ids.emplace_back(ceiling.id);
    reply.ceilings.push_back(ceiling.all_threads);
  }
  return reply;
}

Reply Workbench::set_subject(const SubjectRequest& request) {
  ahead_.clear();
  instances_.clear();
  age_.clear();
  subject_.reset();
  subject_ = std::make_unique<Subject>(request);
  return {};
}

const Provider* Workbench::find_provider(const std::string& name) const {
  const auto found = std::ranges::find_if(providers_, [&](const Provider* known) { return known->name() == name; });
  return found == providers_.end() ? nullptr : *found;
}

Reply Workbench::build_ahead(const BuildAheadRequest& request) {
  if (!subject_) throw InternalError("no workload was named yet");
  ahead_.clear();
  std::vector<Built> built(request.ids.size());
  std::atomic<size_t> next = 0;
  parallel_for(thread_count(), 1, [&](int64_t, int64_t) {
    for (size_t i = next++; i < built.size(); i = next++) {
      const Provider* provider = find_provider(request.ids[i].provider);
      if (provider == nullptr || instances_.contains(request.ids[i])) continue;
      try {
        const auto begin = Clock::now();
        built[i].kernel = provider->build(subject_->workload(), request.ids[i].config);
        built[i].ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
      } catch (const std::exception&) {
        built[i].kernel.reset();  // build() will say why
      }
    }
  });
  for (size_t i = 0; i < built.size(); ++i)
    if (built[i].kernel) ahead_[request.ids[i]] = std::move(built[i]);
  return {};
}

Workbench::Built Workbench::take_built(const Provider& provider, const InstanceId& id) {
  if (auto found = ahead_.extract(id)) return std::move(found.mapped());
  return {provider.build(subject_->workload(), id.config), 0};
}

Reply Workbench::build(const InstanceId& id) {
  if (!subject_) throw InternalError("no workload was named yet");
  const Provider* provider = find_provider(id.provider);
  if (provider == nullptr) return failure(Outcome::refused, fmt::format("there is no provider '{}'", id.provider));
  std::erase(age_, id);
  age_.push_back(id);
  if (instances_.contains(id)) return {};
  if (age_.size() > kMostInstances) {
    instances_.erase(age_.front());
    age_.erase(age_.begin());
  }
  try {
    Built built = take_built(*provider, id);
    if (!built.kernel) return failure(Outcome::compile_failed, "the provider built nothing");
    instances_[id] = std::make_unique<KernelInstance>(std::move(built.kernel), *subject_);
    Reply reply;
    reply.elapsed_ms = built.ms;
    return reply;
  } catch (const UserError& error) {
    return failure(Outcome::refused, error.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return failure(Outcome::compile_failed, error.what());
  }
}

KernelInstance& Workbench::instance(const InstanceId& id) {
  const auto found = instances_.find(id);
  if (found == instances_.end()) throw InternalError("'{}' was not built", to_text(Trial{id.provider, id.config}));
  return *found->second;
}

Reply Workbench::verify(const InstanceId& id) {
  KernelInstance& candidate = instance(id);
  if (candidate.verified) return {};
  const FlushDenormals flush;
  const auto before = ProcessImprint::take();
  Reply reply;
  entering_(0);
  const auto check = [&](auto&& run) {
    if (reply.outcome != Outcome::ok) return;
    try {
      const KernelCheck result = run();
      reply.max_error = std::max(reply.max_error, std::min(result.max_error, std::numeric_limits<double>::max()));
      if (result.problem.empty()) return;
      reply.outcome = Outcome::wrong;
      reply.message = result.problem;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      reply.outcome = Outcome::wrong;
      reply.message = fmt::format("it threw: {}", error.what());
    }
  };
  const Kernel& kernel = candidate.kernel();
  const Workload& workload = subject_->workload();
  check([&] { return check_kernel(kernel, workload, subject_->first(), TaskSpread::pool); });
  check([&] { return check_kernel(kernel, workload, subject_->second(), TaskSpread::pool); });
  check([&] { return check_second_inputs(kernel, workload, subject_->first(), subject_->mixed()); });
  const std::string change = before.find_change(ProcessImprint::take());
  if (!change.empty() && reply.outcome == Outcome::ok) {
    reply.outcome = Outcome::wrong;
    reply.message = change;
  }
  candidate.verified = reply.outcome == Outcome::ok;
  // What wrote where it should not may have hit anything, and what was changed does not change back by itself.
  reply.replace_worker = reply.outcome == Outcome::wrong;
  return reply;
}

Reply Workbench::after_timing(std::span<KernelInstance* const> entrants, Reply reply) {
  for (size_t i = 0; i < entrants.size(); ++i) {
    entering_(static_cast<int>(i));
    const std::string problem = entrants[i]->check_after_timing();
    if (problem.empty()) continue;
    reply.outcome = Outcome::wrong;
    reply.message = problem;
    reply.replace_worker = true;
    break;
  }
  return reply;
}

Reply Workbench::pairs(const PairsRequest& request) {
  KernelInstance &candidate = instance(request.candidate), &anchor = instance(request.anchor);
  if (!candidate.verified || !anchor.verified) throw InternalError("what is timed was verified before");
  const FlushDenormals flush;
  const PairTimes times = time_pairs(candidate, anchor, request, entering_);
  Reply reply;
  reply.times_ns = {times.candidate_ns, times.anchor_ns};
  reply.disturbed = times.disturbed;
  KernelInstance* const timed[] = {&candidate};
  return after_timing(timed, std::move(reply));
}

Reply Workbench::rounds(const RoundsRequest& request) {
  std::vector<KernelInstance*> entrants;
  for (const InstanceId& id : request.entrants) {
    entrants.push_back(&instance(id));
    if (!entrants.back()->verified) throw InternalError("what is timed was verified before");
  }
  const FlushDenormals flush;
  RoundTimes times = time_rounds(entrants, request, entering_);
  Reply reply;
  reply.times_ns = std::move(times.ns);
  reply.disturbed = times.disturbed;
  return after_timing(entrants, std::move(reply));
}

}  // namespace attune::tune
