// The one list of operators.
#pragma once

#include "ops/op.h"

namespace attune {

/// The definition that serves (domain, name, version), or nullptr.
const OpDef* find_op(std::string_view domain, std::string_view name, int version);
/// Throws UnsupportedError naming node, operator, domain and opset.
const OpDef& require_op(const Node& node);
std::span<const OpDef> all_ops();

inline constexpr int kNewestOpset = 28;

}  // namespace attune
