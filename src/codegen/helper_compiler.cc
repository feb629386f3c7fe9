#include "codegen/helper_compiler.h"

#include "codegen/compiler_module.h"

#include <fmt/core.h>

namespace attune {
namespace {

constexpr std::chrono::minutes kPatience{2};  // the largest kernel with sanitizers takes seconds

}  // namespace

std::unique_ptr<HelperProcess> HelperCompiler::take_idle() const {
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) {
    auto helper = std::move(idle_.back());
    idle_.pop_back();
    if (helper->is_ours()) return helper;
  }
  return nullptr;
}

HelperReply HelperCompiler::ask(const HelperRequest& request) const {
  for (;;) {
    auto helper = take_idle();
    const bool fresh = helper == nullptr;
    std::string problem;
    if (fresh) helper = HelperProcess::start(programs_, problem);
    if (!helper) return ask_in_process(request, problem);
    HelperProcess::Answer answer = helper->ask(request, kPatience);
    using Kind = HelperProcess::Answer::Kind;
    if (answer.kind == Kind::gone && !fresh) continue;  // it may have left before it was asked
    if (answer.kind == Kind::replied) {
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(helper));
    }
    return std::move(answer.reply);
  }
}

HelperReply HelperCompiler::ask_in_process(const HelperRequest& request, const std::string& why) const {
  const CompilerLookup& lookup = load_compiler();
  if (lookup.compiler == nullptr) return {fmt::format("{}; {}", why, lookup.problem), ""};
  return run_request(*lookup.compiler, request);
}

CompiledObject HelperCompiler::compile(const GeneratedSource& source, const CompileOptions& options) const {
  HelperReply reply = ask({HelperRequest::Kind::object, source, options});
  CompiledObject result;
  result.error = std::move(reply.error);
  const auto* bytes = reinterpret_cast<const std::byte*>(reply.bytes.data());
  if (result.ok()) result.object.assign(bytes, bytes + reply.bytes.size());
  return result;
}

AssemblyText HelperCompiler::assembly(const GeneratedSource& source, const CompileOptions& options) const {
  HelperReply reply = ask({HelperRequest::Kind::assembly, source, options});
  return {std::move(reply.bytes), std::move(reply.error)};
}

}  // namespace attune
