#include "tune/measure/subject.h"

#include "base/hash.h"

#include <span>

namespace attune::tune {
namespace {

uint64_t hash_of(const GuardedBuffer& buffer) {
  return hash_bytes(std::span(buffer.data(), static_cast<size_t>(buffer.bytes())));
}

/// Contents that nobody gave may lead to results of other dims, where they decide the shape.
void check_outputs(const Workload& workload, const Example& example) {
  for (size_t i = 0; i < workload.outputs.size(); ++i) {
    if (!workload.outputs[i]) continue;
    const TensorSpec& spec = workload.output(i);
    if (i >= example.outputs.size())
      throw UserError("{} has {} outputs, and the workload states one more, {}; leave it out", workload.op,
                      example.outputs.size(), to_text(spec));
    const Tensor& made = example.outputs[i];
    if (made.dims() == spec.dims && made.dtype() == spec.dtype) continue;
    throw UserError(
        "made-up inputs of {} lead to an output {}, not to {}; write that, or give the contents that decide it, as in "
        "'i64[2]* = [1, 3]'",
        workload.op, to_text(TensorSpec{.dtype = made.dtype(), .dims = made.dims()}), to_text(spec));
  }
}

}  // namespace

Subject::Subject(const SubjectRequest& request) : request_(request) {
  WorkloadCase what = parse_workload_case(request.workload);
  suit_contents(what);
  first_ = make_example(what, request.seed);
  workload_ = complete_workload(what, first_);
  second_ = make_example(what, request.seed + 1);
  mixed_ = mix_examples(what, first_, second_);
  for (const Example* example : {&first_, &second_, &mixed_}) check_outputs(workload_, *example);
  for (size_t i = 0; i < workload_.inputs.size(); ++i) {
    inputs_.push_back(workload_.inputs[i] ? std::make_unique<GuardedBuffer>(workload_.input(i)) : nullptr);
    if (inputs_.back()) inputs_.back()->fill(first_.inputs[i]);
    input_hashes_.push_back(inputs_.back() ? hash_of(*inputs_.back()) : 0);
  }
  for (const auto& spec : workload_.outputs)
    outputs_.push_back(spec ? std::make_unique<GuardedBuffer>(*spec) : nullptr);
}

void Subject::need_workspace(int64_t bytes) {
  if (workspace_.count() < bytes) workspace_ = Tensor::lasting(DType::u8, {bytes});
}

std::string Subject::find_damage() const {
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i] && (!inputs_[i]->guards_are_whole() || hash_of(*inputs_[i]) != input_hashes_[i]))
      return fmt::format("it changed input {} while it was timed", i);
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i] && !outputs_[i]->guards_are_whole())
      return fmt::format("it wrote beside output {} while it was timed", i);
  return "";
}

}  // namespace attune::tune
