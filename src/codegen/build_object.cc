#include "codegen/build_object.h"

#include "codegen/compile_cache.h"
#include "codegen/compiler_module.h"

namespace attune {

CompileOptions host_compile_options() {
  CompileOptions options;
  options.isa = usable_isa();
#ifdef __SANITIZE_ADDRESS__
  options.sanitize = "address,undefined";
  options.optimization = 1;  // checks outweigh everything else, compiling takes half as long
#endif
  return options;
}

CompiledObject build_object(const GeneratedSource& source, const CompileOptions& options,
                            const KernelDescription& description) {
  const CompileCache cache(compile_cache_options());
  const std::string key = compile_cache_key(source, compiler_version(), options);
  CompiledObject result;
  if (auto found = cache.find(key)) {
    result.object = std::move(*found);
  } else {
    const CompilerLookup& lookup = find_compiler();
    if (lookup.compiler == nullptr) return {{}, lookup.problem};
    result = lookup.compiler->compile(source, options);
    if (!result.ok()) return result;
    cache.store(key, result.object);
  }
  keep_kernel_meta(kernel_meta_options(), source, options, description, result.object);
  return result;
}

}  // namespace attune
