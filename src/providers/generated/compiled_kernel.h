// A generated kernel whose object code is in memory.
#pragma once

#include "codegen/loaded_object.h"
#include "providers/generated/generator.h"

namespace attune {

class CompiledKernel final : public Kernel {
 public:
  /// Throws UserError when the object is damaged or does not define the entry of the kernel's source.
  CompiledKernel(GeneratedKernel kernel, std::span<const std::byte> object);
  /// From what artifact() gave; throws UserError also when that was made from another text.
  static std::unique_ptr<Kernel> from_artifact(GeneratedKernel kernel, std::span<const std::byte> artifact);

  int64_t workspace_bytes() const override { return kernel_.workspace_bytes; }
  std::vector<Tensor> prepare(std::span<const Tensor* const> constants) const override;
  bool takes_over(int i) const override;
  int in_place_input() const override { return kernel_.in_place_input; }
  std::span<const std::byte> artifact() const override { return artifact_; }
  int64_t task_count() const override { return kernel_.task_count; }
  void run(const KernelArguments& arguments, int64_t begin, int64_t end) const override;

 private:
  void run_by_team(const KernelArguments& arguments, const void* const* prepared) const;

  GeneratedKernel kernel_;
  std::vector<std::byte> artifact_;             // hash of the text, then the object
  std::shared_ptr<const LoadedObject> loaded_;  // shared by type: what loading returns
  GeneratedFunction function_ = nullptr;
};

}  // namespace attune
