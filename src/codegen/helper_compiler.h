// The compiler in a process of its own: LLVM's memory is not this process's, and a crash of the compiler is an error
// like any other.
#pragma once

#include "codegen/helper_process.h"

#include <mutex>

namespace attune {

/// Starts helpers when they are first needed, one for each thread that compiles at the same time, and keeps them.
class HelperCompiler final : public Compiler {
 public:
  HelperCompiler(HelperProcess::Programs programs, std::string version)
      : programs_(std::move(programs)), version_(std::move(version)) {}

  std::string version() const override { return version_; }
  CompiledObject compile(const GeneratedSource& source, const CompileOptions& options) const override;
  AssemblyText assembly(const GeneratedSource& source, const CompileOptions& options) const override;

 private:
  HelperReply ask(const HelperRequest& request) const;
  HelperReply ask_in_process(const HelperRequest& request, const std::string& why) const;
  std::unique_ptr<HelperProcess> take_idle() const;

  HelperProcess::Programs programs_;
  std::string version_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<HelperProcess>> idle_;
};

}  // namespace attune
