#include "conformance/check_kernel.h"

#include "conformance/guarded_buffer.h"
#include "conformance/tolerance.h"

#include <algorithm>
#include <deque>

namespace attune::testing {
namespace {

constexpr int kNan = 0xFF;    // NaN in every float format that has one
constexpr int kNoise = 0xA5;  // small numbers in floats, large ones in integers

/// The memory of one call, so that kernels see fresh addresses and nothing is shared by accident.
class Call {
 public:
  Call(const Kernel& kernel, const Workload& workload, const Example& example) : workspace_(kernel.workspace_bytes()) {
    for (size_t i = 0; i < workload.inputs.size(); ++i) {
      input_pointers_.push_back(nullptr);
      if (!workload.inputs[i] || kernel.takes_over(static_cast<int>(i))) continue;
      inputs_.emplace_back(workload.input(i)).fill(example.inputs[i]);
      originals_.emplace_back(workload.input(i)).fill(example.inputs[i]);
      input_pointers_.back() = inputs_.back().data();
    }
    for (const auto& spec : workload.outputs) {
      output_pointers_.push_back(nullptr);
      positions_.push_back(outputs_.size());
      if (!spec) continue;
      output_pointers_.back() = outputs_.emplace_back(*spec).data();
    }
  }

  void poison(int byte) {
    for (GuardedBuffer& output : outputs_)
      output.poison(byte == kNan && !is_float(output.spec().dtype) ? kNoise : byte);
    workspace_.poison(byte);
  }
  /// Lets output 0 be the buffer of an input.
  void share(size_t input, const Tensor& contents) {
    outputs_[0].fill(contents);
    input_pointers_[input] = output_pointers_[0];
  }
  KernelArguments arguments(std::span<const Tensor> prepared, KernelState* state) {
    return {input_pointers_, output_pointers_, prepared, workspace_.data(), state};
  }
  GuardedBuffer& output(size_t i) { return outputs_[positions_[i]]; }

  std::string find_damage() {
    if (!workspace_.guards_are_whole()) return "it wrote beside its workspace";
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (!outputs_[i].guards_are_whole()) return fmt::format("it wrote beside output {}", i);
      if (!outputs_[i].padding_is_zero()) return fmt::format("it left something in the padding channels of {}", i);
    }
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (!inputs_[i].guards_are_whole() || !inputs_[i].same_bytes(originals_[i]))
        return fmt::format("it changed the input that is number {} of those it reads", i);
    return "";
  }

 private:
  std::deque<GuardedBuffer> inputs_, originals_, outputs_;  // deque: addresses stay
  std::vector<size_t> positions_;                           // of each output among outputs_
  std::vector<const std::byte*> input_pointers_;
  std::vector<std::byte*> output_pointers_;
  GuardedBuffer workspace_;
};

/// All tasks in three parts, the last part first: tasks are independent.
void run_in_parts(const Kernel& kernel, const KernelArguments& arguments) {
  const int64_t count = kernel.task_count(), first = (count + 2) / 3, second = std::max(first, count - count / 3);
  if (second < count) kernel.run(arguments, second, count);
  if (first < second) kernel.run(arguments, first, second);
  if (first > 0) kernel.run(arguments, 0, first);
}

std::string compare_results(Call& call, const Workload& workload, const Example& example) {
  for (size_t i = 0; i < workload.outputs.size(); ++i) {
    if (!workload.outputs[i]) continue;
    const std::string difference =
        find_difference(call.output(i).plain(), example.outputs[i], result_tolerance(workload, i));
    if (!difference.empty()) return fmt::format("output {}, {}", i, difference);
  }
  return call.find_damage();
}

bool same_results(Call& a, Call& b, const Workload& workload) {
  for (size_t i = 0; i < workload.outputs.size(); ++i)
    if (workload.outputs[i] && !a.output(i).same_bytes(b.output(i))) return false;
  return true;
}

}  // namespace

std::string check_kernel(const Kernel& kernel, const Workload& workload, const Example& example) {
  std::vector<const Tensor*> constants(workload.inputs.size(), nullptr);
  for (size_t i = 0; i < constants.size(); ++i)
    if (workload.inputs[i] && workload.input(i).constant) constants[i] = &example.inputs[i];
  const std::vector<Tensor> prepared = kernel.prepare(constants);
  const auto state = kernel.make_state();

  Call whole(kernel, workload, example);
  whole.poison(kNan);
  kernel.run(whole.arguments(prepared, state.get()), 0, kernel.task_count());
  if (auto problem = compare_results(whole, workload, example); !problem.empty()) return problem;

  Call parts(kernel, workload, example);
  parts.poison(kNoise);
  run_in_parts(kernel, parts.arguments(prepared, state.get()));
  if (auto problem = compare_results(parts, workload, example); !problem.empty()) return "second run: " + problem;
  if (!same_results(whole, parts, workload)) return "a second run, on other memory, gave other bits";

  if (const int input = kernel.in_place_input(); input >= 0) {
    Call shared(kernel, workload, example);
    shared.poison(kNoise);
    shared.share(static_cast<size_t>(input), example.inputs[static_cast<size_t>(input)]);
    kernel.run(shared.arguments(prepared, state.get()), 0, kernel.task_count());
    if (auto problem = compare_results(shared, workload, example); !problem.empty()) return "in place: " + problem;
    if (!same_results(whole, shared, workload)) return "in place it gave other bits";
  }
  return "";
}

}  // namespace attune::testing
