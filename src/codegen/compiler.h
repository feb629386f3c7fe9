// What turns the text of a generated kernel into machine code. The implementation lives in a module that is loaded on
// demand (compiler_module.h), so nothing here depends on a compiler being there.
#pragma once

#include "codegen/isa.h"
#include "codegen/source.h"

#include <cstddef>
#include <string>
#include <vector>

namespace attune {

struct CompileOptions {
  Isa isa = Isa::baseline;
  int optimization = 2;  // of -O; 1 compiles quicker and is as fast for text that is vectorised already
  std::string sanitize;  // of -fsanitize=, such as "address,undefined"; empty: none
};

/// Object code, or why there is none: a search survives text that does not compile.
struct CompiledObject {
  std::vector<std::byte> object;  // ELF64, relocatable
  std::string error;              // the compiler's message; empty when it compiled
  bool ok() const { return error.empty(); }
};

struct AssemblyText {
  std::string text;
  std::string error;
  bool ok() const { return error.empty(); }
};

/// Thread-safe.
class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual std::string version() const = 0;  // "clang 19.1.7"
  virtual CompiledObject compile(const GeneratedSource& source, const CompileOptions& options) const = 0;
  /// The instructions that compile() encodes, as text with labels.
  virtual AssemblyText assembly(const GeneratedSource& source, const CompileOptions& options) const = 0;
};

}  // namespace attune
