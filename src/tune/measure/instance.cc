#include "tune/measure/instance.h"

#include "base/parallel.h"
#include "device/cpu/cpu_info.h"
#include "tune/measure/check_kernel.h"
#include "tune/measure/tolerance.h"

#include <algorithm>

namespace attune::tune {
namespace {

constexpr int64_t kMostCopies = 16;
constexpr int64_t kMostCopiedBytes = int64_t{256} << 20;

int64_t copies_for(int64_t weight_bytes) {
  const auto l2 = data_cache(cpu_info(), 2);
  const int64_t wanted = 2 * (l2 ? l2->size_bytes : int64_t{1} << 20) * thread_count();
  const int64_t bytes = std::max<int64_t>(weight_bytes, 1);
  return std::clamp<int64_t>((wanted + bytes - 1) / bytes, 1,
                             std::max<int64_t>(1, std::min(kMostCopies, kMostCopiedBytes / bytes)));
}

}  // namespace

KernelInstance::KernelInstance(std::unique_ptr<Kernel> kernel, Subject& subject)
    : subject_(subject), kernel_(std::move(kernel)), workspace_(kernel_->workspace_bytes()) {
  const Workload& workload = subject.workload();
  std::vector<const Tensor*> constants(workload.inputs.size(), nullptr);
  for (size_t i = 0; i < constants.size(); ++i)
    if (workload.inputs[i] && workload.input(i).constant) constants[i] = &subject.first().inputs[i];
  for (size_t i = 0; i < workload.outputs.size(); ++i)
    outputs_.push_back(workload.outputs[i] ? subject.output(i)->data() : nullptr);
  add_set(kernel_->prepare(constants));
  int64_t weight_bytes = 0;
  for (const Tensor& tensor : sets_[0].prepared) weight_bytes += tensor.size_bytes();
  for (const auto& constant : sets_[0].constants) weight_bytes += constant->bytes();
  if (!subject.request().cold_weights || weight_bytes == 0) return;
  const int64_t copies = copies_for(weight_bytes);
  for (int64_t copy = 1; copy < copies; ++copy) {
    std::vector<Tensor> prepared;
    for (const Tensor& tensor : sets_[0].prepared) prepared.push_back(tensor.clone());
    add_set(std::move(prepared));
  }
}

void KernelInstance::add_set(std::vector<Tensor> prepared) {
  const Workload& workload = subject_.workload();
  Set& set = sets_.emplace_back();
  set.prepared = std::move(prepared);
  set.state = kernel_->make_state();
  for (size_t i = 0; i < workload.inputs.size(); ++i) {
    set.inputs.push_back(nullptr);
    if (!workload.inputs[i] || kernel_->takes_over(static_cast<int>(i))) continue;
    if (!workload.input(i).constant) {
      set.inputs.back() = subject_.input(i)->data();
      continue;
    }
    set.constants.push_back(std::make_unique<GuardedBuffer>(workload.input(i)));
    set.constants.back()->fill(subject_.first().inputs[i]);
    set.inputs.back() = set.constants.back()->data();
  }
}

void KernelInstance::call() {
  Set& set = sets_[next_];
  next_ = next_ + 1 == sets_.size() ? 0 : next_ + 1;
  run_on_pool(*kernel_, {set.inputs, outputs_, set.prepared, workspace_.data(), set.state.get()});
}

std::string KernelInstance::check_after_timing() {
  const Workload& workload = subject_.workload();
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i]) subject_.output(i)->poison(0xFF);
  call();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i]) continue;
    const Comparison comparison =
        compare_results(subject_.output(i)->plain(), subject_.first().outputs[i], result_tolerance(workload, i));
    if (!comparison.difference.empty())
      return fmt::format("after it was timed, output {}, {}", i, comparison.difference);
  }
  if (!workspace_.guards_are_whole()) return "it wrote beside its workspace while it was timed";
  return subject_.find_damage();
}

}  // namespace attune::tune
