// What the worker knows of the workload under measurement: inputs, reference results, and the operands that all kernels
// are timed on.
#pragma once

#include "tune/measure/example.h"
#include "tune/measure/guarded_buffer.h"
#include "tune/measure/messages.h"

#include <deque>

namespace attune::tune {

class Subject {
 public:
  /// Computes the reference three times: for two seeds, and for the constants of the first with the activations of the
  /// second. Throws UserError when the inputs cannot be made up or the results are not of the workload's types.
  explicit Subject(const SubjectRequest& request);

  const SubjectRequest& request() const { return request_; }
  const Workload& workload() const { return workload_; }
  const Example& first() const { return first_; }
  const Example& second() const { return second_; }
  const Example& mixed() const { return mixed_; }

  /// Input i as the timed kernels read it, shared by all of them; nullptr where omitted.
  const GuardedBuffer* input(size_t i) const { return inputs_[i].get(); }
  GuardedBuffer* output(size_t i) { return outputs_[i].get(); }

  /// What a timed kernel left behind that it should not have; empty: nothing. Looks at `first`'s inputs.
  std::string find_damage() const;

 private:
  SubjectRequest request_;
  Workload workload_;
  Example first_, second_, mixed_;
  std::vector<std::unique_ptr<GuardedBuffer>> inputs_, outputs_;
  std::vector<uint64_t> input_hashes_;
};

}  // namespace attune::tune
