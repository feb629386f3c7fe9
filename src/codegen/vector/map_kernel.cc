#include "codegen/vector/map_kernel.h"

#include "codegen/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

namespace attune::codegen {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// How tasks cut the work: whole rows of the innermost loop, or parts of one row where rows are long.
struct TaskSplit {
  int64_t rows_per_task = 1;
  int64_t parts_per_row = 1;
  int64_t part_elements = 0;
};

TaskSplit split_tasks(const MapKernel& kernel, const MapConfig& config) {
  const int64_t row = kernel.nest.loops.back().extent;
  if (row <= config.task_elements) return {std::max<int64_t>(1, config.task_elements / row), 1, row};
  return {1, ceil_div(row, config.task_elements), config.task_elements};
}

class MapEmitter {
 public:
  MapEmitter(const MapKernel& kernel, const MapConfig& config) : kernel_(kernel), config_(config) {}

  std::string compute_function() const {
    std::string parameters;
    for (size_t k = 0; k < kernel_.inputs.size(); ++k) parameters += fmt::format("{}vf x{}", k ? ", " : "", k);
    for (size_t k = 1; k <= further(); ++k) parameters += fmt::format(", vf& result{}", k);
    std::string out =
        fmt::format("/// What becomes of one vector of elements.\nstatic inline vf compute({}) {{\n", parameters);
    for (const std::string& statement : kernel_.expression.statements) out += "  " + statement + "\n";
    for (size_t k = 1; k <= further(); ++k)
      out += fmt::format("  result{} = {};\n", k, kernel_.expression.further_results[k - 1]);
    return out + fmt::format("  return {};\n}}\n\n", kernel_.expression.result);
  }

  std::string row_function() const {
    std::string out = "/// n elements of one row.\nstatic inline void run_row(";
    for (size_t k = 0; k < kernel_.inputs.size(); ++k)
      out += fmt::format("const {}* p{}, ", element_c_type(kernel_.inputs[k].element), k);
    for (size_t k = 0; k <= further(); ++k) out += fmt::format("{}* {}, ", element_c_type(element(k)), pointer(k));
    out += "long n) {\n";
    for (size_t k = 0; k < kernel_.inputs.size(); ++k)
      if (is_repeated(k)) out += fmt::format("  const vf x{} = load_one(p{});\n", k, k);
    out += "  long i = 0;\n";
    if (config_.unroll > 1) out += loop(config_.unroll);
    out += loop(1);
    out += "  if (i < n) {\n";
    out += call("y", [](size_t k) { return fmt::format("load_part(p{} + i, n - i)", k); });
    for (size_t k = 0; k <= further(); ++k)
      out += fmt::format("    store_part({} + i, {}, n - i);\n", pointer(k), result("y", k));
    return out + "  }\n}\n\n";
  }

  std::string entry(const std::string& name) const {
    const TaskSplit split = split_tasks(kernel_, config_);
    const int64_t rows = outer_iterations(kernel_.nest, 1);
    std::string out =
        fmt::format("extern \"C\" __attribute__((visibility(\"default\"))) void {}({}) {{\n", name, kEntryParameters);
    std::vector<RowPointer> pointers;
    for (size_t k = 0; k < kernel_.inputs.size(); ++k) {
      const std::string type = fmt::format("const {}", element_c_type(kernel_.inputs[k].element));
      out += fmt::format("  {}* in{} = ({}*)inputs[{}];\n", type, k, type, kernel_.inputs[k].position);
      pointers.push_back({type, fmt::format("in{}", k), fmt::format("p{}", k)});
    }
    LoopNest nest = kernel_.nest;
    for (size_t k = 0; k <= further(); ++k) {
      const std::string type(element_c_type(element(k)));
      out += fmt::format("  {}* out{} = ({}*)outputs[{}];\n", type, k, type, k);
      pointers.push_back({type, fmt::format("out{}", k), pointer(k)});
      if (k > 0)
        for (Loop& loop : nest.loops) loop.strides.push_back(loop.strides.back());
    }
    out += "  for (long task = begin; task < end; ++task) {\n";
    std::string row_arguments;
    if (split.parts_per_row == 1) {
      out += fmt::format("    const long first = task * {}, last = first + {} < {} ? first + {} : {};\n",
                         split.rows_per_task, split.rows_per_task, rows, split.rows_per_task, rows);
      out += "    for (long row = first; row < last; ++row) {\n";
      out += row_pointers(nest, 1, pointers, "      ");
      out += fmt::format("      run_row({}{});\n    }}\n", arguments(""), split.part_elements);
    } else {
      const int64_t row = kernel_.nest.loops.back().extent;
      out += fmt::format("    const long row = task / {}, at = task % {} * {};\n", split.parts_per_row,
                         split.parts_per_row, split.part_elements);
      out += fmt::format("    const long n = {} - at < {} ? {} - at : {};\n", row, split.part_elements, row,
                         split.part_elements);
      out += row_pointers(nest, 1, pointers, "    ");
      out += fmt::format("    run_row({}n);\n", arguments(" + at"));
    }
    out += "  }\n";
    if (config_.stores == Stores::past_cache) out += "  __builtin_ia32_sfence();\n";
    return out + "}\n";
  }

 private:
  bool is_repeated(size_t input) const { return kernel_.nest.loops.back().strides[input] == 0; }

  size_t further() const { return kernel_.further_outputs.size(); }
  Element element(size_t output) const { return output == 0 ? kernel_.output : kernel_.further_outputs[output - 1]; }
  static std::string pointer(size_t output) { return output == 0 ? "q" : fmt::format("q{}", output); }
  static std::string result(const std::string& name, size_t output) {
    return output == 0 ? name : fmt::format("{}_{}", name, output);
  }

  std::string arguments(const std::string& offset) const {
    std::string out;
    for (size_t k = 0; k < kernel_.inputs.size(); ++k) out += fmt::format("p{}{}, ", k, is_repeated(k) ? "" : offset);
    for (size_t k = 0; k <= further(); ++k) out += fmt::format("{}{}, ", pointer(k), offset);
    return out;
  }

  /// Declares the results of one vector under `name`; `load` gives the text for inputs that are not repeated.
  std::string call(const std::string& name, const std::function<std::string(size_t)>& load) const {
    std::string out;
    for (size_t k = 1; k <= further(); ++k) out += fmt::format("    vf {};\n", result(name, k));
    out += fmt::format("    const vf {} = compute(", name);
    for (size_t k = 0; k < kernel_.inputs.size(); ++k)
      out += fmt::format("{}{}", k ? ", " : "", is_repeated(k) ? fmt::format("x{}", k) : load(k));
    for (size_t k = 1; k <= further(); ++k) out += ", " + result(name, k);
    return out + ");\n";
  }

  /// All loads of a step come before its stores, for the output may be one of the inputs.
  std::string loop(int unroll) const {
    const int64_t step = int64_t{unroll} * config_.lanes;
    const auto at = [&](int u) { return u == 0 ? std::string(" + i") : fmt::format(" + i + {}", u * config_.lanes); };
    std::string out = fmt::format("  for (; i + {} <= n; i += {}) {{\n", step, step);
    for (int u = 0; u < unroll; ++u)
      out += call(fmt::format("y{}", u), [&](size_t k) { return fmt::format("load(p{}{})", k, at(u)); });
    const char* store = config_.stores == Stores::past_cache ? "store_past_cache" : "store";
    for (int u = 0; u < unroll; ++u)
      for (size_t k = 0; k <= further(); ++k)
        out += fmt::format("    {}({}{}, {});\n", store, pointer(k), at(u), result(fmt::format("y{}", u), k));
    return out + "  }\n";
  }

  const MapKernel& kernel_;
  const MapConfig& config_;
};

}  // namespace

bool has_vector_rows(const MapKernel& kernel) {
  const auto& strides = kernel.nest.loops.back().strides;
  return strides.back() == 1 && std::ranges::all_of(strides, [](int64_t stride) { return stride == 0 || stride == 1; });
}

bool can_store_past_cache(const MapKernel& kernel, int lanes) {
  return kernel.nest.loops.size() == 1 || kernel.nest.loops.back().extent % lanes == 0;
}

int64_t map_task_count(const MapKernel& kernel, const MapConfig& config) {
  const TaskSplit split = split_tasks(kernel, config);
  return ceil_div(outer_iterations(kernel.nest, 1), split.rows_per_task) * split.parts_per_row;
}

GeneratedSource emit_map(const MapKernel& kernel, const MapConfig& config, Isa isa, const std::string& header) {
  std::set<Element> elements{kernel.output};
  for (const MapInput& input : kernel.inputs) elements.insert(input.element);
  elements.insert(kernel.further_outputs.begin(), kernel.further_outputs.end());
  if (kernel.expression.rounds_to_bf16) elements.insert(Element::bf16);
  const MapEmitter emitter(kernel, config);
  const std::string name = "map_kernel";
  return {header + vector_types(isa, config.lanes, elements) + vector_functions(kernel.expression.functions) + "\n" +
              kernel.expression.definitions + emitter.compute_function() + emitter.row_function() + emitter.entry(name),
          name};
}

}  // namespace attune::codegen
