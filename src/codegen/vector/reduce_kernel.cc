#include "codegen/vector/reduce_kernel.h"

#include "base/error.h"
#include "codegen/text.h"
#include "codegen/vector/row_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace attune::codegen {
namespace {

using Kind = ReduceKernel::Kind;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// A reduction as a fold: from a neutral element, with a function of each element, then of the result. {v} is the
/// element or the result, {n} the number of elements.
struct Fold {
  std::string_view neutral, element, join, lanes, result;
};

Fold fold_of(Kind kind) {
  constexpr std::string_view kPlus = "+";
  switch (kind) {
    case Kind::sum: return {"0.0f", "{v}", kPlus, "lane_sum", "{v}"};
    case Kind::mean: return {"0.0f", "{v}", kPlus, "lane_sum", "{v} / {n}"};
    case Kind::max: return {"-__builtin_inff()", "{v}", "vmax", "lane_max", "{v}"};
    case Kind::min: return {"__builtin_inff()", "{v}", "vmin", "lane_min", "{v}"};
    case Kind::product: return {"1.0f", "{v}", "*", "lane_product", "{v}"};
    case Kind::l1: return {"0.0f", "vabs({v})", kPlus, "lane_sum", "{v}"};
    case Kind::l2: return {"0.0f", "square({v})", kPlus, "lane_sum", "vsqrt({v})"};
    case Kind::sum_square: return {"0.0f", "square({v})", kPlus, "lane_sum", "{v}"};
    case Kind::log_sum: return {"0.0f", "{v}", kPlus, "lane_sum", "vlog({v})"};
    case Kind::log_sum_exp: return {"0.0f", "vexp({v} - largest)", kPlus, "lane_sum", "vlog({v}) + largest"};
  }
  throw InternalError("a reduction of unknown kind");
}

/// Sums of more terms than this are made of sums of so many: errors then grow with the number of parts.
constexpr int64_t kTermsAtOnce = 256;
/// Sums of terms of either sign, and of more than this, carry their rounding errors along: what is left when terms
/// cancel would else be mostly those.
constexpr int64_t kTermsWithoutCare = 4096;

constexpr std::string_view kCarefulSum =
    R"(/// sum + error stays what was added, to the last bit but those of the errors (Knuth's two-sum).
static inline void add(vf& sum, vf& error, vf x) {
  const vf t = sum + x, z = t - sum;
  error += (sum - (t - z)) + (x - z);
  sum = t;
}
static inline double all_lanes(vf sum, vf error) {
  double out = 0;
  for (int i = 0; i < {lanes}; ++i) out += (double)sum[i] + (double)error[i];
  return out;
}
)";

class ReduceEmitter {
 public:
  ReduceEmitter(const ReduceKernel& kernel, const ReduceConfig& config) : kernel_(kernel), config_(config) {
    inner_ = kernel.nest.loops.back();
    for (size_t i = 0; i + 1 < kernel.nest.loops.size(); ++i)
      (kernel.nest.loops[i].strides[1] == 0 ? reduced_ : kept_.loops).push_back(kernel.nest.loops[i]);
    along_ = is_along_rows(kernel);
    elements_ = along_ ? inner_.extent : 1;
    for (const Loop& loop : reduced_) elements_ *= loop.extent;
    careful_ = elements_ > kTermsWithoutCare && (kernel.kind == Kind::sum || kernel.kind == Kind::mean);
  }

  std::string text(const std::string& name) const {
    const std::string functions =
        careful_ ? fill_in(kCarefulSum, {{"lanes", std::to_string(config_.lanes)}}) + "\n" : "";
    return functions + (along_ ? along_text(name) : across_text(name));
  }

  int64_t tasks() const {
    const int64_t rows = outer_iterations(kept_, 0);
    return along_ ? ceil_div(rows, rows_per_task()) : rows * ceil_div(inner_.extent, columns_per_task());
  }

 private:
  int64_t rows_per_task() const { return std::max<int64_t>(1, config_.task_elements / elements_); }
  int64_t columns_per_task() const { return int64_t{config_.lanes} * config_.unroll; }

  std::string in() const { return std::string(element_c_type(kernel_.input)); }
  std::string out() const { return std::string(element_c_type(kernel_.output)); }

  static std::string apply(std::string_view text, const std::string& value, const std::string& count) {
    return fill_in(text, {{"v", value}, {"n", count}});
  }
  static std::string join(const Fold& fold, const std::string& a, const std::string& b) {
    return fold.join.size() == 1 ? fmt::format("{} {} {}", a, fold.join, b)
                                 : fmt::format("{}({}, {})", fold.join, a, b);
  }
  std::string result(const Fold& fold, const std::string& value) const {
    return apply(fold.result, value, float_literal(static_cast<float>(elements_)));
  }

  /// Loops over what is reduced outside of a row, around `body`, which finds its row at `p`.
  std::string reduced_loops(const std::string& base, const std::string& body) const {
    std::string out, offset;
    for (size_t i = 0; i < reduced_.size(); ++i) {
      out += fmt::format("  for (long r{0} = 0; r{0} < {1}; ++r{0})\n", i, reduced_[i].extent);
      offset += fmt::format(" + r{} * {}", i, reduced_[i].strides[0]);
    }
    return out + fmt::format("  {{\n    const {}* p = {}{};\n{}  }}\n", in(), base, offset, body);
  }

  std::string fold_rows(const Fold& fold, const std::string& name) const {
    std::string body = "    " + declare_accumulators("a", std::string(fold.neutral), config_.unroll) + "\n";
    body += walk_row(inner_.extent, config_.lanes, config_.unroll, "    ", [&](const RowPlace& place) {
      const bool part = place.count < config_.lanes;
      const std::string value =
          part ? fmt::format("load_part(p + {}, {})", place.at, place.count) : fmt::format("load(p + {})", place.at);
      std::string element = apply(fold.element, value, "");
      if (part) element = fmt::format("keep({}, {}, {})", element, place.count, fold.neutral);
      const std::string a = fmt::format("a{}", place.accumulator);
      return fmt::format("{} = {};", a, join(fold, a, element));
    });
    const std::string all = join_accumulators("a", config_.unroll, std::string(fold.join));
    body += fmt::format("    total = {};\n", join(fold, "total", all));
    return fmt::format("  vf {0} = {1};\n  {{\n  vf& total = {0};\n", name, fold.neutral) + reduced_loops("x", body) +
           "  }\n";
  }

  std::string careful_rows() const {
    const int u = config_.unroll;
    std::string out =
        "  " + declare_accumulators("a", "0.0f", u) + "\n  " + declare_accumulators("e", "0.0f", u) + "\n";
    out += reduced_loops("x", walk_row(inner_.extent, config_.lanes, u, "    ", [&](const RowPlace& place) {
                           const std::string value = place.count < config_.lanes
                                                         ? fmt::format("load_part(p + {}, {})", place.at, place.count)
                                                         : fmt::format("load(p + {})", place.at);
                           return fmt::format("add(a{0}, e{0}, {1});", place.accumulator, value);
                         }));
    out += "  const vf all = (float)(";
    for (int i = 0; i < u; ++i) out += fmt::format("{}all_lanes(a{}, e{})", i ? " + " : "", i, i);
    return out + ");\n";
  }

  std::string along_text(const std::string& name) const {
    std::string out = fmt::format("/// One output.\nstatic inline vf reduce(const {}* x) {{\n", in());
    if (kernel_.kind == Kind::log_sum_exp)
      out += fold_rows(fold_of(Kind::max), "m") + "  const vf largest = lane_max(m);\n";
    const Fold fold = fold_of(kernel_.kind);
    if (careful_)
      out += careful_rows();
    else
      out += fold_rows(fold, "t") + fmt::format("  const vf all = {}(t);\n", fold.lanes);
    out += fmt::format("  return {};\n}}\n\n", result(fold, "all"));
    out += head(name);
    const int64_t rows = outer_iterations(kept_, 0);
    out += fmt::format("  const long first = begin * {0}, last = end * {0} < {1} ? end * {0} : {1};\n", rows_per_task(),
                       rows);
    out += "  for (long row = first; row < last; ++row) {\n" + row_pointers(kept_, 0, pointers(), "    ");
    return out + "    store_part(y, reduce(x), 1);\n  }\n}\n";
  }

  /// Columns side by side: nothing is combined within a vector.
  std::string fold_columns(const Fold& fold, const std::string& name, int vectors, const std::string& part) const {
    std::string out = "  " + declare_accumulators(name, std::string(fold.neutral), vectors) + "\n";
    if (careful_) out += "  " + declare_accumulators("e", "0.0f", vectors) + "\n";
    // The innermost loop of what is reduced goes in parts, each with accumulators of its own.
    std::string body, offset;
    for (size_t i = 0; i + 1 < reduced_.size(); ++i) {
      out += fmt::format("  for (long r{0} = 0; r{0} < {1}; ++r{0})\n", i, reduced_[i].extent);
      offset += fmt::format(" + r{} * {}", i, reduced_[i].strides[0]);
    }
    const Loop& last = reduced_.back();
    const int64_t at_once = careful_ ? 1 : kTermsAtOnce;
    out += fmt::format("  for (long from = 0; from < {0}; from += {1}) {{\n", last.extent, at_once);
    out += fmt::format("    const long to = from + {0} < {1} ? from + {0} : {1};\n", at_once, last.extent);
    out += "    " + declare_accumulators("a", std::string(fold.neutral), vectors) + "\n";
    out += fmt::format("    for (long r = from; r < to; ++r) {{\n      const {}* p = x{} + r * {};\n", in(), offset,
                       last.strides[0]);
    for (int u = 0; u < vectors; ++u) {
      const std::string value = part.empty() ? fmt::format("load(p + {})", u * config_.lanes) : "load_part(p, n)";
      const std::string a = fmt::format("a{}", u);
      out += fmt::format("      {} = {};\n", a, join(fold, a, apply(fold.element, value, "")));
    }
    out += "    }\n";
    for (int u = 0; u < vectors; ++u) {
      const std::string total = fmt::format("{}{}", name, u), part_sum = fmt::format("a{}", u);
      out += careful_ ? fmt::format("    add({}, e{}, {});\n", total, u, part_sum)
                      : fmt::format("    {} = {};\n", total, join(fold, total, part_sum));
    }
    out += "  }\n";
    for (int u = 0; u < vectors && careful_; ++u) out += fmt::format("  {0}{1} += e{1};\n", name, u);
    return out;
  }

  /// Names `largest` in the element's function differ from vector to vector.
  std::string columns_function(const std::string& name, int vectors, const std::string& part) const {
    std::string out = fmt::format("static inline void {}(const {}* x, {}* y{}) {{\n", name, in(), this->out(),
                                  part.empty() ? "" : ", long n");
    if (kernel_.kind == Kind::log_sum_exp)
      out += fold_columns(fold_of(Kind::max), "m", vectors, part) + "  const vf largest = m0;\n";
    const Fold fold = fold_of(kernel_.kind);
    out += fold_columns(fold, "t", vectors, part);
    for (int u = 0; u < vectors; ++u) {
      const std::string value = result(fold, fmt::format("t{}", u));
      out += part.empty() ? fmt::format("  store(y + {}, {});\n", u * config_.lanes, value)
                          : fmt::format("  store_part(y, {}, n);\n", value);
    }
    return out + "}\n\n";
  }

  std::string across_text(const std::string& name) const {
    const int vectors = kernel_.kind == Kind::log_sum_exp ? 1 : config_.unroll;
    const int64_t columns = inner_.extent, per_task = columns_per_task();
    std::string out;
    if (vectors > 1) out += "/// Several vectors of outputs.\n" + columns_function("reduce_several", vectors, "");
    out += "/// One vector of outputs.\n" + columns_function("reduce_one", 1, "");
    out += "/// The n outputs of a row that fill no vector.\n" + columns_function("reduce_part", 1, "n");
    out += head(name);
    out += "  for (long task = begin; task < end; ++task) {\n";
    out +=
        fmt::format("    const long row = task / {0}, at = task % {0} * {1};\n", ceil_div(columns, per_task), per_task);
    out += fmt::format("    long left = {0} - at < {1} ? {0} - at : {1};\n", columns, per_task);
    out += row_pointers(kept_, 0, pointers(), "    ");
    out += "    x += at;\n    y += at;\n";
    if (vectors > 1)
      out += fmt::format("    if (left == {}) {{\n      reduce_several(x, y);\n      continue;\n    }}\n", per_task);
    out += fmt::format("    for (; left >= {0}; left -= {0}, x += {0}, y += {0}) reduce_one(x, y);\n", config_.lanes);
    return out + "    if (left > 0) reduce_part(x, y, left);\n  }\n}\n";
  }

  std::string head(const std::string& name) const {
    return fmt::format(
        "extern \"C\" __attribute__((visibility(\"default\"))) void {}({}) {{\n"
        "  const {}* in = (const {}*)inputs[0];\n  {}* out = ({}*)outputs[0];\n",
        name, kEntryParameters, in(), in(), out(), out());
  }
  std::vector<RowPointer> pointers() const { return {{"const " + in(), "in", "x"}, {out(), "out", "y"}}; }

  const ReduceKernel& kernel_;
  const ReduceConfig& config_;
  LoopNest kept_;
  std::vector<Loop> reduced_;
  Loop inner_;
  bool along_ = false, careful_ = false;
  int64_t elements_ = 1;
};

}  // namespace

bool is_along_rows(const ReduceKernel& kernel) { return kernel.nest.loops.back().strides[1] == 0; }

bool has_vector_rows(const ReduceKernel& kernel) {
  const auto& strides = kernel.nest.loops.back().strides;
  return strides[0] == 1 && (strides[1] == 0 || strides[1] == 1);
}

int64_t reduce_task_count(const ReduceKernel& kernel, const ReduceConfig& config) {
  return ReduceEmitter(kernel, config).tasks();
}

GeneratedSource emit_reduce(const ReduceKernel& kernel, const ReduceConfig& config, Isa isa,
                            const std::string& header) {
  const std::string name = "reduce_kernel";
  std::string text = header + vector_types(isa, config.lanes, {kernel.input, kernel.output});
  text += vector_functions({"vmax", "vmin", "vabs", "vsqrt", "vlog", "vexp"});
  text += "static inline vf square(vf v) { return v * v; }\n";
  text += lane_functions(config.lanes, {"lane_sum", "lane_max", "lane_min", "lane_product", "keep"}) + "\n";
  return {text + ReduceEmitter(kernel, config).text(name), name};
}

}  // namespace attune::codegen
