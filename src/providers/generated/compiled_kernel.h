// A generated kernel whose object code is in memory.
#pragma once

#include "codegen/loaded_object.h"
#include "providers/generated/generator.h"

namespace attune {

class CompiledKernel final : public Kernel {
 public:
  /// Throws UserError when the object is damaged or does not define the entry of the kernel's source.
  CompiledKernel(GeneratedKernel kernel, std::vector<std::byte> object);

  int64_t workspace_bytes() const override { return kernel_.workspace_bytes; }
  std::vector<Tensor> prepare(std::span<const Tensor* const> constants) const override;
  bool takes_over(int i) const override;
  int in_place_input() const override { return kernel_.in_place_input; }
  int64_t task_count() const override { return kernel_.task_count; }
  void run(const KernelArguments& arguments, int64_t begin, int64_t end) const override;

 private:
  GeneratedKernel kernel_;
  std::vector<std::byte> object_;
  std::shared_ptr<const LoadedObject> loaded_;  // shared by type: what loading returns
  GeneratedFunction function_ = nullptr;
};

}  // namespace attune
