#include "codegen/vector/chain_row_kernel.h"

#include "codegen/text.h"
#include "codegen/vector/row_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace attune::codegen {
namespace {

using Kind = RowKernel::Kind;
using Output = ChainRowKernel::Output;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t width_of(const ChainRowKernel& kernel) { return kernel.nest.loops.back().extent; }

int64_t rows_per_task(const ChainRowKernel& kernel, const RowConfig& config) {
  return std::max<int64_t>(1, config.task_elements / width_of(kernel));
}

class ChainRowEmitter {
 public:
  ChainRowEmitter(const ChainRowKernel& kernel, const RowConfig& config)
      : kernel_(kernel), config_(config), width_(width_of(kernel)) {}

  std::string row_function() const {
    std::string out = "/// One row.\nstatic inline void run_row(";
    for (size_t k = 0; k < kernel_.inputs.size(); ++k)
      out += fmt::format("const {}* p{}, ", element_c_type(kernel_.inputs[k].element), k);
    for (size_t k = 0; k < kernel_.outputs.size(); ++k)
      out += fmt::format("{}{}* q{}", k ? ", " : "", element_c_type(kernel_.outputs[k].element), k);
    out += ") {\n";
    for (size_t k = 0; k < kernel_.inputs.size(); ++k)
      if (is_repeated(static_cast<int>(k))) out += fmt::format("  const vf x{} = load_one(p{});\n", k, k);
    const int64_t padded = ceil_div(width_, config_.lanes) * config_.lanes;
    out += fmt::format("  float row[{}] __attribute__((aligned(64)));\n", padded);
    switch (kernel_.kind) {
      case Kind::softmax:
      case Kind::log_softmax: out += softmax(); break;
      case Kind::layer_norm: out += layer_norm(); break;
      case Kind::rms_norm: out += rms_norm(); break;
    }
    return out + "}\n\n";
  }

  std::string entry(const std::string& name) const {
    std::string out =
        fmt::format("extern \"C\" __attribute__((visibility(\"default\"))) void {}({}) {{\n", name, kEntryParameters);
    std::vector<RowPointer> pointers;
    std::string arguments;
    const auto add = [&](std::string type, const char* array, int position, const std::string& pointer) {
      out += fmt::format("  {}* base_{} = ({}*){}[{}];\n", type, pointer, type, array, position);
      pointers.push_back({std::move(type), "base_" + pointer, pointer});
      arguments += (arguments.empty() ? "" : ", ") + pointer;
    };
    for (size_t k = 0; k < kernel_.inputs.size(); ++k)
      add(fmt::format("const {}", element_c_type(kernel_.inputs[k].element)), "inputs", kernel_.inputs[k].position,
          fmt::format("p{}", k));
    for (size_t k = 0; k < kernel_.outputs.size(); ++k)
      add(std::string(element_c_type(kernel_.outputs[k].element)), "outputs", static_cast<int>(k),
          fmt::format("q{}", k));
    const int64_t per_task = rows_per_task(kernel_, config_), rows = outer_iterations(kernel_.nest, 1);
    out += fmt::format("  const long first = begin * {}, last = end * {} < {} ? end * {} : {};\n", per_task, per_task,
                       rows, per_task, rows);
    out += "  for (long row = first; row < last; ++row) {\n";
    out += row_pointers(kernel_.nest, 1, pointers, "    ");
    out += fmt::format("    run_row({});\n  }}\n", arguments);
    if (config_.stores == Stores::past_cache) out += "  __builtin_ia32_sfence();\n";
    return out + "}\n";
  }

 private:
  bool is_repeated(int input) const { return kernel_.nest.loops.back().strides[static_cast<size_t>(input)] == 0; }
  bool is_part(const RowPlace& place) const { return place.count < config_.lanes; }

  std::string kept(const std::string& value, const RowPlace& place, const char* other) const {
    return is_part(place) ? fmt::format("keep({}, {}, {})", value, place.count, other) : value;
  }
  std::string walk(const std::function<std::string(const RowPlace&)>& statement) const {
    return walk_row(width_, config_.lanes, config_.unroll, "  ",
                    [&](const RowPlace& place) { return "{ " + statement(place) + " }"; });
  }
  std::string sum(const std::string& name) const {
    return fmt::format("lane_sum({})", join_accumulators(name, config_.unroll, "+"));
  }

  std::string loads(const std::set<int>& inputs, const RowPlace& place) const {
    std::string out;
    for (const int k : inputs)
      if (!is_repeated(k))
        out += is_part(place) ? fmt::format("const vf x{0} = load_part(p{0} + {1}, {2}); ", k, place.at, place.count)
                              : fmt::format("const vf x{0} = load(p{0} + {1}); ", k, place.at);
    return out;
  }
  std::string stores(Output::Stage stage, const RowPlace& place) const {
    std::string out;
    for (size_t k = 0; k < kernel_.outputs.size(); ++k) {
      const Output& output = kernel_.outputs[k];
      if (output.stage != stage) continue;
      const char* store = config_.stores == Stores::past_cache ? "store_past_cache" : "store";
      out += is_part(place) ? fmt::format("store_part(q{} + {}, {}, {}); ", k, place.at, output.value, place.count)
                            : fmt::format("{}(q{} + {}, {}); ", store, k, place.at, output.value);
    }
    return out;
  }
  static std::string joined(const std::vector<std::string>& statements) {
    std::string out;
    for (const std::string& statement : statements) out += statement + " ";
    return out;
  }

  /// The statements before the row is looked at, which leave it in the buffer, and what `gather` makes of each vector
  /// v.
  std::string first_walk(const std::function<std::string(const RowPlace&)>& gather) const {
    return walk([&](const RowPlace& place) {
      return loads(kernel_.before.inputs, place) + joined(kernel_.before.statements) +
             fmt::format("const vf v = {}; store(row + {}, v); ", kernel_.row, place.at) +
             stores(Output::Stage::before, place) + gather(place);
    });
  }
  /// `value` of v in the buffer is the result; the statements after it follow.
  std::string last_walk(const std::string& value) const {
    std::set<int> inputs = kernel_.after.inputs;
    std::string scaled = value;
    if (kernel_.scale) inputs.insert(*kernel_.scale), scaled += fmt::format(" * x{}", *kernel_.scale);
    if (kernel_.shift) inputs.insert(*kernel_.shift), scaled += fmt::format(" + x{}", *kernel_.shift);
    return walk([&](const RowPlace& place) {
      return loads(inputs, place) + fmt::format("const vf v = load(row + {}); ", place.at) +
             fmt::format("const vf {} = {}; ", kernel_.result, scaled) + joined(kernel_.after.statements) +
             stores(Output::Stage::after, place);
    });
  }

  std::string softmax() const {
    const int u = config_.unroll;
    std::string out = "  " + declare_accumulators("m", "-__builtin_inff()", u) + "\n";
    out += first_walk([&](const RowPlace& p) {
      return fmt::format("m{0} = vmax(m{0}, {1});", p.accumulator, kept("v", p, "-__builtin_inff()"));
    });
    out += fmt::format("  const vf largest = lane_max({});\n", join_accumulators("m", u, "vmax"));
    out += "  " + declare_accumulators("s", "0.0f", u) + "\n";
    const bool logarithm = kernel_.kind == Kind::log_softmax;
    out += walk([&](const RowPlace& p) {
      return fmt::format("const vf e = {0}; s{1} += e;{2}",
                         kept(fmt::format("vexp_below(load(row + {}) - largest)", p.at), p, "0.0f"), p.accumulator,
                         logarithm ? "" : fmt::format(" store(row + {}, e);", p.at));
    });
    if (logarithm)
      return out + fmt::format("  const vf below = largest + vlog((vf){});\n", sum("s")) + last_walk("v - below");
    return out + fmt::format("  const vf factor = 1.0f / {};\n", sum("s")) + last_walk("v * factor");
  }

  std::string layer_norm() const {
    const std::string count = float_literal(static_cast<float>(width_));
    std::string out = "  " + declare_accumulators("s", "0.0f", config_.unroll) + "\n";
    out +=
        first_walk([&](const RowPlace& p) { return fmt::format("s{} += {};", p.accumulator, kept("v", p, "0.0f")); });
    out += fmt::format("  const vf mean = {} / {};\n", sum("s"), count);
    out += "  " + declare_accumulators("d", "0.0f", config_.unroll) + "\n";
    out += walk([&](const RowPlace& p) {
      return fmt::format("const vf v = {}; d{} += v * v;", kept(fmt::format("load(row + {}) - mean", p.at), p, "0.0f"),
                         p.accumulator);
    });
    out += fmt::format("  const vf factor = 1.0f / __builtin_sqrtf({} / {} + {});\n", sum("d"), count,
                       float_literal(kernel_.epsilon));
    return out + last_walk("(v - mean) * factor");
  }

  std::string rms_norm() const {
    std::string out = "  " + declare_accumulators("s", "0.0f", config_.unroll) + "\n";
    out += first_walk([&](const RowPlace& p) {
      return fmt::format("const vf w = {}; s{} += w * w;", kept("v", p, "0.0f"), p.accumulator);
    });
    out += fmt::format("  const vf factor = 1.0f / __builtin_sqrtf({} / {} + {});\n", sum("s"),
                       float_literal(static_cast<float>(width_)), float_literal(kernel_.epsilon));
    return out + last_walk("v * factor");
  }

  const ChainRowKernel& kernel_;
  const RowConfig& config_;
  int64_t width_;
};

}  // namespace

bool can_store_past_cache(const ChainRowKernel& kernel, int lanes) { return width_of(kernel) % lanes == 0; }

int64_t chain_row_task_count(const ChainRowKernel& kernel, const RowConfig& config) {
  return ceil_div(outer_iterations(kernel.nest, 1), rows_per_task(kernel, config));
}

GeneratedSource emit_chain_rows(const ChainRowKernel& kernel, const RowConfig& config, Isa isa,
                                const std::string& header) {
  std::set<Element> elements{Element::f32};
  for (const MapInput& input : kernel.inputs) elements.insert(input.element);
  for (const Output& output : kernel.outputs) elements.insert(output.element);
  if (kernel.rounds_to_bf16) elements.insert(Element::bf16);
  std::set<std::string> functions = kernel.functions, lane_names{"lane_sum", "keep"};
  if (kernel.kind == Kind::softmax || kernel.kind == Kind::log_softmax) {
    functions.insert({"vexp_below", "vmax", "vlog"});
    lane_names.insert("lane_max");
  }
  const ChainRowEmitter emitter(kernel, config);
  const std::string name = "chain_row_kernel";
  return {header + vector_types(isa, config.lanes, elements) + vector_functions(functions) +
              lane_functions(config.lanes, lane_names) + "\n" + kernel.definitions + emitter.row_function() +
              emitter.entry(name),
          name};
}

}  // namespace attune::codegen
