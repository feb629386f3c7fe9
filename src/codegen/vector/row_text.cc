#include "codegen/vector/row_text.h"

#include "codegen/text.h"

#include <fmt/core.h>

namespace attune::codegen {
namespace {

std::string lane_function(const std::string& name, const std::string& type, const std::string& join, int lanes) {
  std::string out = fmt::format("static inline float {}(vf v) {{\n", name), value = "v";
  for (int left = lanes; left > 2; left /= 2) {
    const std::string half = fmt::format("v{}", left / 2);
    out += fmt::format("  const auto {} = {};\n", half, fill_in(join, {{"a", value + ".lo"}, {"b", value + ".hi"}}));
    value = half;
  }
  if (type == "sum") return out + fmt::format("  return {}.x + {}.y;\n}}\n", value, value);
  if (type == "product") return out + fmt::format("  return {}.x * {}.y;\n}}\n", value, value);
  return out + fmt::format("  return {}.x {} {}.y ? {}.x : {}.y;\n}}\n", value, type == "max" ? ">" : "<", value, value,
                           value);
}

}  // namespace

std::string walk_row(int64_t width, int lanes, int unroll, const std::string& indent,
                     const std::function<std::string(const RowPlace&)>& statement) {
  const int64_t step = int64_t{lanes} * unroll, looped = width / step * step;
  std::string out;
  const auto line = [&](const RowPlace& place, const std::string& extra) {
    out += indent + extra + statement(place) + "\n";
  };
  if (looped > 0) {
    out += fmt::format("{}for (long i = 0; i < {}; i += {}) {{\n", indent, looped, step);
    for (int u = 0; u < unroll; ++u) line({u, u == 0 ? "i" : fmt::format("i + {}", u * lanes), lanes}, "  ");
    out += indent + "}\n";
  }
  int accumulator = 0;
  int64_t at = looped;
  for (; at + lanes <= width; at += lanes) line({accumulator++, std::to_string(at), lanes}, "");
  if (at < width) line({accumulator % unroll, std::to_string(at), width - at}, "");
  return out;
}

std::string declare_accumulators(const std::string& name, const std::string& value, int count) {
  std::string out = "vf ";
  for (int i = 0; i < count; ++i) out += fmt::format("{}{}{} = {}", i ? ", " : "", name, i, value);
  return out + ";";
}

std::string join_accumulators(const std::string& name, int count, const std::string& function) {
  std::string out = name + "0";
  for (int i = 1; i < count; ++i)
    out = function.size() == 1 ? fmt::format("({} {} {}{})", out, function, name, i)
                               : fmt::format("{}({}, {}{})", function, out, name, i);
  return out;
}

std::string lane_functions(int lanes, const std::set<std::string>& names) {
  std::string out;
  if (names.count("lane_sum") > 0) out += lane_function("lane_sum", "sum", "{a} + {b}", lanes);
  if (names.count("lane_product") > 0) out += lane_function("lane_product", "product", "{a} * {b}", lanes);
  const std::string pick = "template <class V> static inline V {0}(V a, V b) {{ return a {1} b ? a : b; }}\n";
  if (names.count("lane_max") > 0)
    out += fmt::format(fmt::runtime(pick), "larger", ">") + lane_function("lane_max", "max", "larger({a}, {b})", lanes);
  if (names.count("lane_min") > 0)
    out +=
        fmt::format(fmt::runtime(pick), "smaller", "<") + lane_function("lane_min", "min", "smaller({a}, {b})", lanes);
  if (names.count("keep") > 0) {
    std::string numbers;
    for (int i = 0; i < lanes; ++i) numbers += (i ? ", " : "") + std::to_string(i);
    out += fmt::format(
        "static inline vf keep(vf v, int n, float other) {{\n  const vi lane = {{{}}};\n"
        "  return lane < n ? v : (vf)other;\n}}\n",
        numbers);
  }
  return out;
}

}  // namespace attune::codegen
