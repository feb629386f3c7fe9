#include "codegen/compile_flags.h"

namespace attune {
namespace {

/// Instruction sets by name, not by the machine, so that a masked ISA is really not used. Without the preferred width
/// Clang splits 64-byte vectors in two for several processors, which cost a factor of 2.5 on a matrix product.
std::vector<std::string> isa_flags(Isa isa) {
  switch (isa) {
    case Isa::baseline: return {"-march=x86-64"};
    case Isa::avx2: return {"-march=x86-64-v3", "-mprefer-vector-width=256"};
    case Isa::avx512: return {"-march=x86-64-v4", "-mprefer-vector-width=512"};
    case Isa::avx512_bf16: return {"-march=x86-64-v4", "-mavx512bf16", "-mprefer-vector-width=512"};
    case Isa::amx:
      return {"-march=x86-64-v4", "-mavx512bf16", "-mamx-tile",
              "-mamx-bf16",       "-mamx-int8",   "-mprefer-vector-width=512"};
  }
  return {};
}

}  // namespace

std::vector<std::string> compile_flags(const CompileOptions& options) {
  std::vector<std::string> flags = isa_flags(options.isa);
  flags.push_back("-O" + std::to_string(options.optimization));
  // One mapping holds the whole object, so 32-bit relative addresses suffice; nothing throws or needs unwinding.
  // Products and sums may be contracted; infinities and NaN keep their meaning.
  for (const char* flag :
       {"-std=c++20", "-fPIC", "-fvisibility=hidden", "-mcmodel=small", "-ffp-contract=fast", "-fno-math-errno",
        "-fno-trapping-math", "-fno-exceptions", "-fno-rtti", "-fno-asynchronous-unwind-tables", "-fno-stack-protector",
        "-fno-ident", "-nostdinc", "-Wall", "-Wno-psabi", "-Wno-unused-function", "-Wno-unused-variable"})
    flags.emplace_back(flag);
  if (!options.sanitize.empty()) {
    flags.push_back("-fsanitize=" + options.sanitize);
    // Undefined behaviour traps, so that the runtime of another compiler's sanitizer need not be there.
    flags.emplace_back("-fsanitize-trap=undefined");
  }
  return flags;
}

}  // namespace attune
