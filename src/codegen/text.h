// Pieces of C++ text that every generator needs.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attune::codegen {

/// A literal with exactly this value: "0x1.8p+1f", "__builtin_inff()".
std::string float_literal(float value);

/// Lines that open a kernel's text, such as its workload and config. Workloads hold strings from models, so only
/// printable characters pass.
std::string header_comment(const std::vector<std::string>& lines);

/// `text` with every {name} replaced; braces around anything else stay as they are, which suits text of a language of
/// braces.
std::string fill_in(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values);

/// The parameters of a GeneratedFunction.
inline constexpr std::string_view kEntryParameters =
    "const void* const* inputs, void* const* outputs, const void* const* prepared, void* workspace, long begin, "
    "long end";

}  // namespace attune::codegen
