// The compiler behind codegen/compiler.h: Clang and LLVM in this process, from memory to memory. Built as the module
// libattune_codegen.so; nothing else sees their headers.
#include "codegen/compile_flags.h"
#include "codegen/compiler_module.h"

#include <clang/Basic/Version.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

namespace attune {
namespace {

constexpr const char* kFileName = "kernel.cc";

/// What one action makes of the text, or the diagnostics.
struct ActionResult {
  llvm::SmallVector<char, 0> bytes;
  std::string error;
};

std::shared_ptr<clang::CompilerInvocation> make_invocation(const std::vector<std::string>& flags, const char* emit,
                                                           llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diags) {
  std::vector<const char*> arguments{"clang", "-x", "c++", emit};
  for (const std::string& flag : flags) arguments.push_back(flag.c_str());
  arguments.push_back(kFileName);
  clang::CreateInvocationOptions options;
  options.Diags = diags;
  return clang::createInvocation(arguments, std::move(options));
}

template <class Action>
ActionResult run_action(const GeneratedSource& source, const CompileOptions& options, const char* emit) {
  ActionResult result;
  llvm::raw_string_ostream messages(result.error);
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> diagnostic_options = new clang::DiagnosticOptions;
  const auto printer = std::make_unique<clang::TextDiagnosticPrinter>(messages, diagnostic_options.get());
  const auto diagnostics = clang::CompilerInstance::createDiagnostics(diagnostic_options.get(), printer.get(), false);
  const auto invocation = make_invocation(compile_flags(options), emit, diagnostics);
  bool ok = invocation != nullptr && !diagnostics->hasErrorOccurred();
  if (ok) {
    // The buffer outlives the compilation; Clang would otherwise take it over.
    const auto buffer = llvm::MemoryBuffer::getMemBuffer(source.text, kFileName);
    invocation->getPreprocessorOpts().addRemappedFile(kFileName, buffer.get());
    invocation->getPreprocessorOpts().RetainRemappedFileBuffers = true;
    // A compiler's process ends with its work and frees nothing; ours goes on, through thousands of kernels.
    invocation->getFrontendOpts().DisableFree = false;
    invocation->getCodeGenOpts().DisableFree = false;
    clang::CompilerInstance compiler;
    compiler.setInvocation(invocation);
    compiler.createDiagnostics(printer.get(), false);
    compiler.setVerboseOutputStream(llvm::nulls());
    compiler.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(result.bytes));
    Action action;
    ok = compiler.ExecuteAction(action);
    compiler.clearOutputFiles(false);
  }
  messages.flush();
  if (ok)
    result.error.clear();  // warnings
  else if (result.error.empty())
    result.error = "the compiler failed without a message";
  return result;
}

class ClangCompiler final : public Compiler {
 public:
  ClangCompiler() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    // Globals of generated code are not registered with AddressSanitizer: nobody would take them out again.
    const char* arguments[] = {"attune_codegen", "-asan-globals=0"};
    llvm::cl::ParseCommandLineOptions(2, arguments);
  }

  std::string version() const override { return std::string("clang ") + CLANG_VERSION_STRING; }

  CompiledObject compile(const GeneratedSource& source, const CompileOptions& options) const override {
    ActionResult result = run_action<clang::EmitObjAction>(source, options, "-c");
    CompiledObject object;
    object.error = std::move(result.error);
    if (!object.ok()) return object;
    const auto* bytes = reinterpret_cast<const std::byte*>(result.bytes.data());
    object.object.assign(bytes, bytes + result.bytes.size());
    return object;
  }

  AssemblyText assembly(const GeneratedSource& source, const CompileOptions& options) const override {
    ActionResult result = run_action<clang::EmitAssemblyAction>(source, options, "-S");
    return {std::string(result.bytes.data(), result.bytes.size()), std::move(result.error)};
  }
};

}  // namespace
}  // namespace attune

extern "C" __attribute__((visibility("default"))) attune::Compiler* attune_make_compiler_1() {
  static attune::ClangCompiler compiler;
  return &compiler;
}
