// Keeps what was generated for people to look at: text, description, object and assembly of each kernel.
#pragma once

#include "codegen/compiler.h"

#include <filesystem>
#include <span>

namespace attune {

struct KernelMetaOptions {
  int level = 0;  // 0: keep nothing; 1: text and description; 2: object and assembly as well
  std::filesystem::path folder = "kernel_meta";
};

/// From ATTUNE_KERNEL_META (0, 1, 2) and ATTUNE_KERNEL_META_DIR. Throws UserError for values that are none.
KernelMetaOptions kernel_meta_options();

/// What a kernel is, for its description.
struct KernelDescription {
  std::string workload;  // its key
  std::string config;
};

/// Writes <entry>_<hash>.cc, .json and, at level 2, .o and .s (when there is a compiler).
void keep_kernel_meta(const KernelMetaOptions& options, const GeneratedSource& source, const CompileOptions& compile,
                      const KernelDescription& description, std::span<const std::byte> object);

}  // namespace attune
