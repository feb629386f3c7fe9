#include "codegen/vector/row_kernel.h"

#include "codegen/text.h"
#include "codegen/vector/row_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace attune::codegen {
namespace {

using Kind = RowKernel::Kind;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t rows_per_task(const RowKernel& kernel, const RowConfig& config) {
  return std::max<int64_t>(1, config.task_elements / kernel.width);
}

/// Exponentials are kept where the results go, and beside them where those are narrower than what is summed up.
constexpr int64_t kLongestBuffer = 4096;

class RowEmitter {
 public:
  RowEmitter(const RowKernel& kernel, const RowConfig& config) : kernel_(kernel), config_(config) {}

  std::string row_function() const {
    std::string out = "/// One row.\nstatic inline void run_row(" + parameters() + ") {\n";
    switch (kernel_.kind) {
      case Kind::softmax:
      case Kind::log_softmax: out += softmax(); break;
      case Kind::layer_norm: out += layer_norm(); break;
      case Kind::rms_norm: out += rms_norm(); break;
    }
    return out + "}\n\n";
  }

  std::string entry(const std::string& name) const {
    const int64_t per_task = rows_per_task(kernel_, config_);
    std::string out =
        fmt::format("extern \"C\" __attribute__((visibility(\"default\"))) void {}({}) {{\n", name, kEntryParameters);
    std::string arguments;
    for (size_t k = 0; k < kernel_.summands.size(); ++k) {
      out += declare(fmt::format("x{}", k), kernel_.summands[k]);
      arguments +=
          k < kernel_.full_summands ? fmt::format("x{} + row * {}, ", k, kernel_.width) : fmt::format("x{}, ", k);
    }
    const std::string row_place =
        kernel_.scale_of == RowKernel::ScaleOf::row ? fmt::format(" + row % {}", kernel_.period) : "";
    if (kernel_.scale) out += declare("scale", *kernel_.scale), arguments += "scale" + row_place + ", ";
    if (kernel_.shift) out += declare("shift", *kernel_.shift), arguments += "shift" + row_place + ", ";
    const std::string type(element_c_type(kernel_.output));
    out += fmt::format("  {}* y = ({}*)outputs[0];\n", type, type);
    out += fmt::format("  const long first = begin * {}, last = end * {} < {} ? end * {} : {};\n", per_task, per_task,
                       kernel_.rows, per_task, kernel_.rows);
    return out + fmt::format("  for (long row = first; row < last; ++row) run_row({}y + row * {});\n{}}}\n", arguments,
                             kernel_.width, config_.stores == Stores::past_cache ? "  __builtin_ia32_sfence();\n" : "");
  }

 private:
  static std::string declare(const std::string& name, const RowOperand& operand) {
    const std::string type(element_c_type(operand.element));
    return fmt::format("  const {}* {} = (const {}*)inputs[{}];\n", type, name, type, operand.position);
  }

  std::string parameters() const {
    std::string out;
    for (size_t k = 0; k < kernel_.summands.size(); ++k)
      out += fmt::format("const {}* x{}, ", element_c_type(kernel_.summands[k].element), k);
    if (kernel_.scale) out += fmt::format("const {}* scale, ", element_c_type(kernel_.scale->element));
    if (kernel_.shift) out += fmt::format("const {}* shift, ", element_c_type(kernel_.shift->element));
    return out + fmt::format("{}* y", element_c_type(kernel_.output));
  }

  bool is_part(const RowPlace& place) const { return place.count < config_.lanes; }

  std::string load(const std::string& name, const RowPlace& place) const {
    return is_part(place) ? fmt::format("load_part({} + {}, {})", name, place.at, place.count)
                          : fmt::format("load({} + {})", name, place.at);
  }
  /// The input: zero in the lanes that a partial vector does not have.
  std::string load_input(const RowPlace& place) const {
    std::string out = load("x0", place);
    for (size_t k = 1; k < kernel_.summands.size(); ++k) out += " + " + load(fmt::format("x{}", k), place);
    return out;
  }
  /// Of what is read again.
  std::string store(const std::string& value, const RowPlace& place) const {
    return is_part(place) ? fmt::format("store_part(y + {}, {}, {});", place.at, value, place.count)
                          : fmt::format("store(y + {}, {});", place.at, value);
  }
  /// Of what is not.
  std::string store_last(const std::string& value, const RowPlace& place) const {
    if (config_.stores == Stores::cached) return store(value, place);
    return fmt::format("store_past_cache(y + {}, {});", place.at, value);
  }
  std::string kept(const std::string& value, const RowPlace& place, const char* other) const {
    return is_part(place) ? fmt::format("keep({}, {}, {})", value, place.count, other) : value;
  }
  std::string walk(const std::function<std::string(const RowPlace&)>& statement) const {
    return walk_row(kernel_.width, config_.lanes, config_.unroll, "  ", statement);
  }
  /// Asks for the same place of a row further on. The pass that sums reads what is there; memory would wait during the
  /// others, which compute and find everything in the cache. Into the second cache more requests are under way at a
  /// time, from the first one rows are read sooner.
  std::string ask_ahead(const RowPlace& place) const {
    if (config_.ahead == 0 || is_part(place)) return "";
    std::string out;
    for (size_t k = 0; k < kernel_.full_summands; ++k)
      out += fmt::format("__builtin_prefetch(x{} + {} + {}, 0, {}); ", k, config_.ahead * kernel_.width, place.at,
                         config_.ahead_into == 1 ? 3 : 2);
    return out;
  }
  std::string sum(const std::string& name) const {
    return fmt::format("lane_sum({})", join_accumulators(name, config_.unroll, "+"));
  }

  std::string softmax() const {
    const bool logarithm = kernel_.kind == Kind::log_softmax;
    const int u = config_.unroll;
    std::string out = "  " + declare_accumulators("m", "-__builtin_inff()", u) + "\n";
    out += walk([&](const RowPlace& p) {
      return fmt::format("m{0} = vmax(m{0}, {1});", p.accumulator, kept(load_input(p), p, "-__builtin_inff()"));
    });
    out += fmt::format("  const vf largest = lane_max({});\n", join_accumulators("m", u, "vmax"));
    const bool in_result = kernel_.output == Element::f32 && !logarithm && config_.stores == Stores::cached;
    const bool buffered = !in_result && !logarithm && kernel_.width <= kLongestBuffer;
    const int64_t padded = ceil_div(kernel_.width, config_.lanes) * config_.lanes;
    if (buffered) out += fmt::format("  float e[{}] __attribute__((aligned(64)));\n", padded);
    out += "  " + declare_accumulators("s", "0.0f", u) + "\n";
    out += walk([&](const RowPlace& p) {
      const std::string value = kept(fmt::format("vexp_below({} - largest)", load_input(p)), p, "0.0f");
      if (!in_result && !buffered) return fmt::format("{}s{} += {};", ask_ahead(p), p.accumulator, value);
      std::string text = fmt::format("{{ {}const vf v = {}; s{} += v; ", ask_ahead(p), value, p.accumulator);
      return text + (in_result ? store("v", p) : fmt::format("store(e + {}, v);", p.at)) + " }";
    });
    if (logarithm) {
      out += fmt::format("  const vf below = largest + vlog((vf){});\n", sum("s"));
      return out + walk([&](const RowPlace& p) { return store_last(fmt::format("{} - below", load_input(p)), p); });
    }
    out += fmt::format("  const vf factor = 1.0f / {};\n", sum("s"));
    return out + walk([&](const RowPlace& p) {
             const std::string value = in_result  ? load("y", p)
                                       : buffered ? fmt::format("load(e + {})", p.at)
                                                  : fmt::format("vexp_below({} - largest)", load_input(p));
             return store_last(value + " * factor", p);
           });
  }

  std::string finish(const std::string& normalised, const RowPlace& place) const {
    std::string out = normalised;
    const bool by_row = kernel_.scale_of == RowKernel::ScaleOf::row;
    if (kernel_.scale) out += " * " + (by_row ? "load_one(scale)" : load("scale", place));
    if (kernel_.shift) out += " + " + (by_row ? "load_one(shift)" : load("shift", place));
    return store_last(out, place);
  }

  std::string layer_norm() const {
    std::string out = "  " + declare_accumulators("s", "0.0f", config_.unroll) + "\n";
    out += walk([&](const RowPlace& p) { return fmt::format("s{} += {};", p.accumulator, load_input(p)); });
    const std::string width = float_literal(static_cast<float>(kernel_.width));
    out += fmt::format("  const vf mean = {} / {};\n", sum("s"), width);
    out += "  " + declare_accumulators("q", "0.0f", config_.unroll) + "\n";
    out += walk([&](const RowPlace& p) {
      return fmt::format("{{ {2}const vf d = {0}; q{1} += d * d; }}",
                         kept(fmt::format("({}) - mean", load_input(p)), p, "0.0f"), p.accumulator, ask_ahead(p));
    });
    out += fmt::format("  const vf factor = 1.0f / __builtin_sqrtf({} / {} + {});\n", sum("q"), width,
                       float_literal(kernel_.epsilon));
    return out +
           walk([&](const RowPlace& p) { return finish(fmt::format("(({}) - mean) * factor", load_input(p)), p); });
  }

  std::string rms_norm() const {
    std::string out = "  " + declare_accumulators("q", "0.0f", config_.unroll) + "\n";
    out += walk([&](const RowPlace& p) {
      return fmt::format("{{ const vf v = {0}; q{1} += v * v; }}", load_input(p), p.accumulator);
    });
    out += fmt::format("  const vf factor = 1.0f / __builtin_sqrtf({} / {} + {});\n", sum("q"),
                       float_literal(static_cast<float>(kernel_.width)), float_literal(kernel_.epsilon));
    return out + walk([&](const RowPlace& p) {
             return ask_ahead(p) + finish(fmt::format("({}) * factor", load_input(p)), p);
           });
  }

  const RowKernel& kernel_;
  const RowConfig& config_;
};

// Rows across memory: a vector holds as many rows as it has lanes, so nothing is combined within it.
constexpr std::string_view kColumns = R"(/// n rows side by side.
template <bool kPart> static inline void run_columns(const {in}* x, {out}* y, long n) {
  vf largest = -__builtin_inff();
  for (long k = 0; k < {width}; ++k) largest = vmax(largest, get<kPart>(x + k * {columns}, n));
  vf sum = 0.0f;
  for (long k = 0; k < {width}; ++k) sum += vexp_below(get<kPart>(x + k * {columns}, n) - largest);
  const vf last = {last};
  for (long k = 0; k < {width}; ++k) {
    const vf v = get<kPart>(x + k * {columns}, n) - largest;
    put<kPart>(y + k * {columns}, {value}, n);
  }
}

extern "C" __attribute__((visibility("default"))) void {name}({parameters}) {
  const {in}* x = (const {in}*)inputs[{position}];
  {out}* y = ({out}*)outputs[0];
  for (long task = begin; task < end; ++task) {
    const long at = task / {parts} * {block} + task % {parts} * {lanes}, n = {columns} - task % {parts} * {lanes};
    if (n >= {lanes})
      run_columns<false>(x + at, y + at, {lanes});
    else
      run_columns<true>(x + at, y + at, n);
  }
}
)";
constexpr std::string_view kGetPut = R"(template <bool kPart, class T> static inline vf get(const T* p, long n) {
  if constexpr (kPart) return load_part(p, n);
  return load(p);
}
template <bool kPart, class T> static inline void put(T* p, vf v, long n) {
  if constexpr (kPart) return store_part(p, v, n);
  store(p, v);
}
)";

std::string column_text(const RowKernel& kernel, const RowConfig& config, const std::string& name) {
  const bool logarithm = kernel.kind == Kind::log_softmax;
  return std::string(kGetPut) + fill_in(kColumns, {{"in", std::string(element_c_type(kernel.summands[0].element))},
                                                   {"out", std::string(element_c_type(kernel.output))},
                                                   {"width", std::to_string(kernel.width)},
                                                   {"columns", std::to_string(kernel.columns)},
                                                   {"block", std::to_string(kernel.columns * kernel.width)},
                                                   {"parts", std::to_string(ceil_div(kernel.columns, config.lanes))},
                                                   {"lanes", std::to_string(config.lanes)},
                                                   {"position", std::to_string(kernel.summands[0].position)},
                                                   {"last", logarithm ? "vlog(sum)" : "1.0f / sum"},
                                                   {"value", logarithm ? "v - last" : "vexp_below(v) * last"},
                                                   {"name", name},
                                                   {"parameters", std::string(kEntryParameters)}});
}

}  // namespace

bool can_store_past_cache(const RowKernel& kernel, int lanes) {
  return kernel.columns == 1 && kernel.width % lanes == 0;
}

int64_t row_task_count(const RowKernel& kernel, const RowConfig& config) {
  if (kernel.columns > 1) return kernel.rows * ceil_div(kernel.columns, config.lanes);
  return ceil_div(kernel.rows, rows_per_task(kernel, config));
}

GeneratedSource emit_rows(const RowKernel& kernel, const RowConfig& config, Isa isa, const std::string& header) {
  std::set<Element> elements{kernel.output, Element::f32};
  for (const RowOperand& summand : kernel.summands) elements.insert(summand.element);
  for (const auto& operand : {kernel.scale, kernel.shift})
    if (operand) elements.insert(operand->element);
  const bool is_softmax = kernel.kind == Kind::softmax || kernel.kind == Kind::log_softmax;
  std::set<std::string> functions, lane_names{"lane_sum", "keep"};
  if (is_softmax) functions = {"vexp_below", "vmax", "vlog"}, lane_names.insert("lane_max");
  const std::string name = "row_kernel";
  std::string text = header + vector_types(isa, config.lanes, elements) + vector_functions(functions);
  if (kernel.columns > 1) return {text + "\n" + column_text(kernel, config, name), name};
  const RowEmitter emitter(kernel, config);
  text += lane_functions(config.lanes, lane_names) + "\n";
  return {text + emitter.row_function() + emitter.entry(name), name};
}

}  // namespace attune::codegen
