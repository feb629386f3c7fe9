#include "tune/measure/check_kernel.h"

#include "base/parallel.h"
#include "tune/measure/guarded_buffer.h"
#include "tune/measure/tolerance.h"

#include <algorithm>
#include <deque>

namespace attune::tune {
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
      originals_.emplace_back(workload.input(i)).copy(inputs_.back());
      input_pointers_.back() = inputs_.back().data();
    }
    for (const auto& spec : workload.outputs) {
      output_pointers_.push_back(nullptr);
      positions_.push_back(outputs_.size());
      if (!spec) continue;
      output_pointers_.back() = outputs_.emplace_back(*spec).data();
    }
  }

  /// Other contents at the same addresses.
  void refill(const Kernel& kernel, const Workload& workload, const Example& example) {
    size_t at = 0;
    for (size_t i = 0; i < workload.inputs.size(); ++i) {
      if (!workload.inputs[i] || kernel.takes_over(static_cast<int>(i))) continue;
      inputs_[at].fill(example.inputs[i]);
      originals_[at].copy(inputs_[at]);
      ++at;
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

KernelCheck check_results(Call& call, const Workload& workload, const Example& example) {
  KernelCheck check;
  for (size_t i = 0; i < workload.outputs.size(); ++i) {
    if (!workload.outputs[i]) continue;
    const Comparison comparison =
        compare_results(call.output(i).plain(), example.outputs[i], result_tolerance(workload, i));
    check.max_error = std::max(check.max_error, comparison.max_error);
    if (!comparison.difference.empty() && check.problem.empty())
      check.problem = fmt::format("output {}, {}", i, comparison.difference);
  }
  if (check.problem.empty()) check.problem = call.find_damage();
  return check;
}

bool same_results(Call& a, Call& b, const Workload& workload) {
  for (size_t i = 0; i < workload.outputs.size(); ++i)
    if (workload.outputs[i] && !a.output(i).same_bytes(b.output(i))) return false;
  return true;
}

/// What is wrong with a further run that should have given the bits of the first.
std::string check_repetition(Call& first, Call& again, const Workload& workload, const Example& example,
                             std::string_view when, std::string_view other_bits) {
  if (same_results(first, again, workload)) {
    const std::string damage = again.find_damage();
    return damage.empty() ? "" : fmt::format("{}: {}", when, damage);
  }
  const std::string problem = check_results(again, workload, example).problem;
  return problem.empty() ? std::string(other_bits) : fmt::format("{}: {}", when, problem);
}

std::vector<Tensor> prepared_constants(const Kernel& kernel, const Workload& workload, const Example& example) {
  std::vector<const Tensor*> constants(workload.inputs.size(), nullptr);
  for (size_t i = 0; i < constants.size(); ++i)
    if (workload.inputs[i] && workload.input(i).constant) constants[i] = &example.inputs[i];
  return kernel.prepare(constants);
}

}  // namespace

void run_on_pool(const Kernel& kernel, const KernelArguments& arguments) {
  const int64_t tasks = kernel.task_count();
  if (tasks == 1) return kernel.run(arguments, 0, 1);
  parallel_for(tasks, 1, [&](int64_t begin, int64_t end) { kernel.run(arguments, begin, end); });
}

KernelCheck check_kernel(const Kernel& kernel, const Workload& workload, const Example& example, TaskSpread spread) {
  const std::vector<Tensor> prepared = prepared_constants(kernel, workload, example);
  const auto state = kernel.make_state();

  Call whole(kernel, workload, example);
  whole.poison(kNan);
  if (spread == TaskSpread::pool)
    run_on_pool(kernel, whole.arguments(prepared, state.get()));
  else
    kernel.run(whole.arguments(prepared, state.get()), 0, kernel.task_count());
  KernelCheck check = check_results(whole, workload, example);
  if (!check.problem.empty()) return check;

  Call parts(kernel, workload, example);
  parts.poison(kNoise);
  run_in_parts(kernel, parts.arguments(prepared, state.get()));
  check.problem =
      check_repetition(whole, parts, workload, example, "second run", "a second run, on other memory, gave other bits");
  if (!check.problem.empty()) return check;

  if (const int input = kernel.in_place_input(); input >= 0) {
    Call shared(kernel, workload, example);
    shared.poison(kNoise);
    shared.share(static_cast<size_t>(input), example.inputs[static_cast<size_t>(input)]);
    kernel.run(shared.arguments(prepared, state.get()), 0, kernel.task_count());
    check.problem = check_repetition(whole, shared, workload, example, "in place", "in place it gave other bits");
  }
  return check;
}

KernelCheck check_second_inputs(const Kernel& kernel, const Workload& workload, const Example& first,
                                const Example& second) {
  const std::vector<Tensor> prepared = prepared_constants(kernel, workload, first);
  const auto state = kernel.make_state();
  Call call(kernel, workload, first);
  call.poison(kNan);
  run_on_pool(kernel, call.arguments(prepared, state.get()));
  // Both are compared: this memory may be that of an earlier check, with the second inputs in it.
  KernelCheck check = check_results(call, workload, first);
  if (!check.problem.empty()) {
    check.problem = "where other inputs may have been: " + check.problem;
    return check;
  }
  call.refill(kernel, workload, second);
  call.poison(kNan);
  run_on_pool(kernel, call.arguments(prepared, state.get()));
  check = check_results(call, workload, second);
  if (!check.problem.empty()) check.problem = "with other inputs at the same place: " + check.problem;
  return check;
}

}  // namespace attune::tune
