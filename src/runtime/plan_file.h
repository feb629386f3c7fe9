// Plans on disk: the rewritten graph, the kernel and config of each step, and the packed constants, ready to be mapped.
#pragma once

#include "runtime/session.h"

#include <filesystem>

namespace attune {

/// Writes the plan that the session uses for these inputs.
void save_plan(const Session& session, std::span<const Tensor> inputs, const std::filesystem::path& path);

/// A session that runs the saved plan for the shapes it was made for, and plans anew for others. Nothing is measured or
/// packed. Throws UserError with the reason for a file that is damaged, of another format version, or made for another
/// machine or library version.
Session load_plan(const std::filesystem::path& path, SessionOptions options = {});

/// Whether a file begins as a plan does.
bool is_plan_file(const std::filesystem::path& path);

}  // namespace attune
