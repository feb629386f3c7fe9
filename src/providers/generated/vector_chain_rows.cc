#include "providers/generated/vector_chain_rows.h"

#include "codegen/text.h"
#include "codegen/vector/chain_row_kernel.h"
#include "providers/generated/vector_chain_text.h"
#include "providers/generated/vector_operands.h"
#include "providers/generated/vector_parameters.h"

#include <algorithm>

namespace attune {
namespace {

using namespace codegen;
using generated::ChainText;
using Kind = RowKernel::Kind;
using Stage = ChainRowKernel::Output::Stage;

Kind kind_of(const std::string& op) {
  if (op == "Softmax") return Kind::softmax;
  if (op == "LogSoftmax") return Kind::log_softmax;
  return op == "LayerNormalization" ? Kind::layer_norm : Kind::rms_norm;
}

/// Adds a step and those that it needs to a part, in their order; `stop` is there already.
void add_step(const ChainText& text, int step, int stop, std::set<int>& steps) {
  if (step == stop || !steps.insert(step).second) return;
  for (const int needed : text.needs[static_cast<size_t>(step)]) add_step(text, needed, stop, steps);
}

ChainPart part_of(const ChainText& text, const std::set<int>& steps) {
  ChainPart part;
  for (const int step : steps) {
    const auto at = static_cast<size_t>(step);
    part.statements.push_back(text.statements[at]);
    part.inputs.insert(text.inputs[at].begin(), text.inputs[at].end());
  }
  return part;
}

bool depends_on(const ChainText& text, int step, int on) {
  if (step == on) return true;
  return std::ranges::any_of(text.needs[static_cast<size_t>(step)],
                             [&](int needed) { return depends_on(text, needed, on); });
}

/// The last dim stays a loop of its own; the others are joined where they can be.
std::variant<LoopNest, Refusal> row_nest(const Workload& workload) {
  const TensorSpec& output = workload.output(0);
  std::vector<generated::AlignedOperand> operands;
  for (const auto& input : workload.inputs) {
    if (input->layout != Layout::plain) return refuse("rows are contiguous in plain layout, got {}", to_text(*input));
    operands.push_back(generated::align_right(*input, output.dims.size()));
  }
  auto made = generated::make_nest(operands, output);
  if (auto* refusal = std::get_if<Refusal>(&made)) return std::move(*refusal);
  LoopNest nest = std::get<LoopNest>(std::move(made));
  const Loop row = nest.loops.back();
  nest.loops.pop_back();
  nest = simplify(std::move(nest), operands.size());
  if (nest.loops.empty() || nest.loops[0].strides.empty()) nest.loops.clear();  // a single row
  nest.loops.push_back(row);
  for (Loop& loop : nest.loops)
    for (size_t i = 1; i < workload.outputs.size(); ++i) loop.strides.push_back(loop.strides.back());
  return nest;
}

std::variant<ChainRowKernel, Refusal> describe(const Workload& workload) {
  auto written = generated::write_chain(workload);
  if (const auto* refusal = std::get_if<Refusal>(&written)) return *refusal;
  const ChainText& text = std::get<ChainText>(written);
  const int at = text.program.row_step();
  if (at < 0) return refuse("no step looks at whole rows");
  const VectorStep& step = text.program.steps[static_cast<size_t>(at)];
  const TensorSpec& output = workload.output(0);
  if (output.dims.empty()) return refuse("a scalar has no row");
  if (output.layout != Layout::plain) return refuse("rows are contiguous in plain layout, got {}", to_text(output));
  if (output.dims.back() > kLongestChainRow)
    return refuse("a row of {} numbers is too long to be held between steps ({})", output.dims.back(),
                  kLongestChainRow);
  ChainRowKernel kernel;
  kernel.kind = kind_of(step.op);
  kernel.inputs = generated::chain_inputs(workload);
  const VectorOperand& row = step.operands[0];
  kernel.row = to_text(row);
  kernel.result = fmt::format("t{}", at);
  const auto epsilon = step.numbers.find("epsilon");
  kernel.epsilon = epsilon == step.numbers.end() ? 1e-5f : epsilon->second;
  for (size_t i = 1; i < step.operands.size(); ++i) {
    if (step.operands[i].kind != VectorOperand::Kind::input ||
        workload.input(static_cast<size_t>(step.operands[i].index)).dims != Dims{output.dims.back()})
      return refuse("scale and shift of '{}' are no rows of inputs", to_text(step));
    (i == 1 ? kernel.scale : kernel.shift) = step.operands[i].index;
  }
  std::set<int> before, after;
  if (row.kind == VectorOperand::Kind::step) add_step(text, row.index, at, before);
  for (size_t i = 0; i < text.program.results.size(); ++i) {
    const int result = text.program.results[i];
    const bool late = depends_on(text, result, at);
    add_step(text, result, at, late ? after : before);
    kernel.outputs.push_back({*generated::element_of(workload.output(i).dtype), fmt::format("t{}", result),
                              late ? Stage::after : Stage::before});
  }
  kernel.before = part_of(text, before);
  kernel.after = part_of(text, after);
  if (row.kind == VectorOperand::Kind::input) kernel.before.inputs.insert(row.index);
  kernel.functions = text.functions;
  kernel.definitions = text.definitions;
  kernel.rounds_to_bf16 = text.rounds_to_bf16;
  auto nest = row_nest(workload);
  if (auto* refusal = std::get_if<Refusal>(&nest)) return std::move(*refusal);
  kernel.nest = std::get<LoopNest>(std::move(nest));
  return kernel;
}

ChainRowKernel require_kernel(const Workload& workload) {
  auto described = describe(workload);
  if (const auto* refusal = std::get_if<Refusal>(&described)) throw UserError("{}", refusal->reason);
  return std::get<ChainRowKernel>(std::move(described));
}

/// An input that is read at each place for the last time before the first output is written there.
int find_in_place(const ChainRowKernel& kernel, const Workload& workload) {
  if (kernel.outputs[0].stage == Stage::before) return -1;
  for (size_t k = 0; k < kernel.inputs.size(); ++k) {
    const TensorSpec& input = workload.input(k);
    if (kernel.inputs[k].element == kernel.outputs[0].element && !input.constant &&
        input.dims == workload.output(0).dims)
      return static_cast<int>(k);
  }
  return -1;
}

}  // namespace

std::optional<Refusal> VectorChainRowsGenerator::find_refusal(const Workload& workload) const {
  auto described = describe(workload);
  if (auto* refusal = std::get_if<Refusal>(&described)) return std::move(*refusal);
  return std::nullopt;
}

std::vector<Config> VectorChainRowsGenerator::offered(const Workload& workload) const {
  const ChainRowKernel kernel = require_kernel(workload);
  const int lanes = widest_lanes(usable_isa());
  Config usual{{"lanes", std::to_string(lanes)}, {"unroll", "4"}, {"task_elements", "8192"}};
  if (can_store_past_cache(kernel, lanes)) usual["stores"] = generated::usual_stores(workload.output(0));
  return {usual, generated::with(usual, {{"unroll", "1"}})};
}

void VectorChainRowsGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const ChainRowKernel kernel = require_kernel(workload);
  space.ordinal("lanes", generated::lane_values());
  if (can_store_past_cache(kernel, widest_lanes(usable_isa()))) space.categorical("stores", generated::kStores);
  space.ordinal("unroll", {1, 2, 4, 8});
  space.power_of_two("task_elements", 1024, 65536);
}

GeneratedKernel VectorChainRowsGenerator::emit(const Workload& workload, const Config& config) const {
  const ChainRowKernel kernel = require_kernel(workload);
  const generated::Parameters parameters(config);
  const RowConfig choice{.lanes = static_cast<int>(parameters.number("lanes")),
                         .unroll = static_cast<int>(parameters.number("unroll")),
                         .task_elements = parameters.number("task_elements"),
                         .stores = parameters.stores()};
  GeneratedKernel out;
  out.source = emit_chain_rows(kernel, choice, usable_isa(), header_comment({workload.key(), to_text(config)}));
  out.task_count = chain_row_task_count(kernel, choice);
  out.in_place_input = find_in_place(kernel, workload);
  return out;
}

}  // namespace attune
