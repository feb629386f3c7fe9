#include "race.h"

#include "base/float_mode.h"
#include "base/parallel.h"
#include "base/random.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace attune::bench {
namespace {

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Values in [-1, 1): nothing that overflows, and nothing so small that arithmetic slows down.
Tensor random_tensor(const TensorSpec& spec, uint64_t seed) {
  Tensor tensor = Tensor::lasting(spec.dtype, spec.dims);  // on large pages, as in sessions
  uint64_t state = seed * 2654435761u + 1;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<double>(state >> 40) / (1 << 23) - 1.0);
  };
  for (int64_t i = 0; i < tensor.count(); ++i) {
    if (spec.dtype == DType::f32) tensor.mutable_data<float>()[i] = next();
    if (spec.dtype == DType::bf16) tensor.mutable_data<BFloat16>()[i] = BFloat16(next());
  }
  return tensor;
}

/// Everything that running one candidate again and again needs. Buffers are those of its own layout.
class Runner {
 public:
  explicit Runner(const Candidate& candidate) : candidate_(candidate) {
    const Workload& workload = candidate.workload;
    kernel_ = candidate.provider->build(workload, candidate.config);
    std::vector<const Tensor*> constants;
    for (size_t i = 0; i < workload.inputs.size(); ++i)
      inputs_.push_back(workload.inputs[i] ? random_tensor(workload.input(i), i) : Tensor());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const bool constant = workload.inputs[i] && workload.input(i).constant;
      constants.push_back(constant ? &inputs_[i] : nullptr);
    }
    prepared_ = kernel_->prepare(constants);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      // Blocked layouts hold more elements than the plain tensor; their contents do not matter to the time.
      if (!inputs_[i].empty() && constants[i] == nullptr)
        inputs_[i] = grown(inputs_[i], storage_bytes(workload.input(i)).value());
      pointers_.push_back(inputs_[i].empty() || kernel_->takes_over(static_cast<int>(i)) ? nullptr : inputs_[i].bytes());
    }
    output_ = Tensor::lasting(DType::u8, {storage_bytes(workload.output(0)).value()});
    if (kernel_->workspace_bytes() > 0) workspace_ = Tensor::lasting(DType::u8, {kernel_->workspace_bytes()});
    state_ = kernel_->make_state();
  }

  void run() {
    std::byte* outputs[] = {output_.mutable_bytes()};
    const KernelArguments arguments{pointers_, outputs, prepared_,
                                    workspace_.empty() ? nullptr : workspace_.mutable_bytes(), state_.get()};
    parallel_for(kernel_->task_count(), 1,
                 [&](int64_t begin, int64_t end) { kernel_->run(arguments, begin, end); });
  }

  double sample_us(int runs) {
    run();
    const double begin = now_us();
    for (int i = 0; i < runs; ++i) run();
    return (now_us() - begin) / runs;
  }

  const Candidate& candidate() const { return candidate_; }
  int repetitions = 1;
  bool alive = true;
  std::vector<double> times_us;
  double best_us() const { return *std::ranges::min_element(times_us); }

 private:
  static Tensor grown(const Tensor& tensor, int64_t bytes) {
    Tensor out = Tensor::zeros(DType::u8, {bytes});
    std::copy_n(tensor.bytes(), std::min(bytes, tensor.size_bytes()), out.mutable_bytes());
    return out;
  }

  Candidate candidate_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<Tensor> inputs_, prepared_;
  std::vector<const std::byte*> pointers_;
  Tensor output_, workspace_;
  std::unique_ptr<KernelState> state_;
};

void keep_best(std::vector<std::unique_ptr<Runner>>& runners, const std::string& side, size_t count) {
  std::vector<Runner*> alive;
  for (auto& runner : runners)
    if (runner->alive && runner->candidate().side == side) alive.push_back(runner.get());
  std::ranges::sort(alive, {}, [](const Runner* runner) { return runner->best_us(); });
  for (size_t i = count; i < alive.size(); ++i) alive[i]->alive = false;
}

double percentile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  return values[std::min(values.size() - 1, static_cast<size_t>(part * static_cast<double>(values.size())))];
}

}  // namespace

std::vector<Finalist> race(const std::vector<Candidate>& candidates, const RaceOptions& options) {
  const FlushDenormals flush;  // as sessions do
  std::vector<std::unique_ptr<Runner>> runners;
  std::set<std::string> sides;
  for (const Candidate& candidate : candidates) {
    runners.push_back(std::make_unique<Runner>(candidate));
    sides.insert(candidate.side);
  }
  for (auto& runner : runners) {
    const double first = runner->sample_us(1);
    runner->repetitions = std::clamp(static_cast<int>(options.sample_ms * 1000 / first), 1, 100);
  }
  constexpr int kFirstCut = 2, kSecondCut = 5;
  constexpr size_t kFirstKept = 5, kSecondKept = 2;
  for (int round = 0; round < options.rounds; ++round) {
    for (const std::string& side : sides) {
      if (round == kFirstCut) keep_best(runners, side, kFirstKept);
      if (round == kSecondCut) keep_best(runners, side, kSecondKept);
    }
    for (auto& runner : runners)
      if (runner->alive) runner->times_us.push_back(runner->sample_us(runner->repetitions));
  }
  std::vector<Finalist> finalists;
  for (const std::string& side : sides) {
    const Runner* best = nullptr;
    for (const auto& runner : runners)
      if (runner->alive && runner->candidate().side == side &&
          (best == nullptr || percentile(runner->times_us, 0.5) < percentile(best->times_us, 0.5)))
        best = runner.get();
    finalists.push_back({best->candidate(), percentile(best->times_us, 0.5), best->times_us});
  }
  return finalists;
}

Ratio speedup(const Finalist& of, const Finalist& over) {
  std::vector<double> ratios;
  for (size_t i = 0; i < of.round_us.size() && i < over.round_us.size(); ++i)
    ratios.push_back(over.round_us[i] / of.round_us[i]);
  return {percentile(ratios, 0.5), percentile(ratios, 0.1), percentile(ratios, 0.9)};
}

}  // namespace attune::bench
