#include "providers/generated/attention.h"

#include "base/parallel.h"
#include "codegen/isa.h"
#include "codegen/text.h"
#include "providers/generated/attention_text.h"
#include "providers/generated/vector_parameters.h"

#include <algorithm>
#include <set>

namespace attune {
namespace {

using generated::AttentionChoice;

constexpr int64_t kMostScratchBytes = 1 << 20;  // a thread's stack has a few megabytes

int64_t vector_registers() { return usable_isa() >= Isa::avx512 ? 32 : 16; }

AttentionChoice usual_choice(const Workload& workload) {
  const AttentionProblem problem = generated::attention_problem(workload);
  AttentionChoice choice;
  choice.lanes = generated::lane_values().front();
  choice.tile_rows = usable_isa() == Isa::baseline ? 4 : 6;
  choice.tile_vectors = usable_isa() >= Isa::avx512 ? 4 : 2;
  choice.key_block = 256;
  choice.group_tiles = 4;
  choice.queries = std::min<int64_t>(problem.queries, 128);
  return choice;
}

Config config_of(const AttentionChoice& choice) {
  return {{"lanes", std::to_string(choice.lanes)},
          {"tile_rows", std::to_string(choice.tile_rows)},
          {"tile_vectors", std::to_string(choice.tile_vectors)},
          {"key_block", std::to_string(choice.key_block)},
          {"group_tiles", std::to_string(choice.group_tiles)},
          {"queries", std::to_string(choice.queries)}};
}

AttentionChoice choice_of(const Config& config) {
  const generated::Parameters parameters(config);
  return {parameters.number("lanes"),     parameters.number("tile_rows"),   parameters.number("tile_vectors"),
          parameters.number("key_block"), parameters.number("group_tiles"), parameters.number("queries")};
}

bool fits_stack(const AttentionProblem& problem, const AttentionChoice& choice) {
  return generated::attention_scratch_bytes(problem, choice) <= kMostScratchBytes;
}

}  // namespace

std::optional<Refusal> AttentionGenerator::find_refusal(const Workload& workload) const {
  if (workload.domain != "attune" || workload.op != "FusedAttention")
    return refuse("operator '{}' is no attention", workload.op);
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs) {
      if (!spec) continue;
      if (spec->layout != Layout::plain) return refuse("attention takes plain operands, got {}", to_text(spec));
      if (element_count(spec->dims) == 0) return refuse("there is nothing to compute in an empty tensor");
    }
  const DType dtype = workload.input(0).dtype;
  if (dtype != DType::f32 && dtype != DType::bf16)
    return refuse("generated attention computes on f32 and bf16, got {}", to_text(workload.input(0)));
  if (!fits_stack(generated::attention_problem(workload), usual_choice(workload)))
    return refuse("heads of {} are too large to be blocked on the stack", to_text(workload.input(0)));
  return std::nullopt;
}

std::vector<Config> AttentionGenerator::offered(const Workload& workload) const {
  std::vector<Config> configs;
  const AttentionChoice usual = usual_choice(workload);
  configs.push_back(config_of(usual));
  AttentionChoice other = usual;
  other.group_tiles = 2;
  configs.push_back(config_of(other));
  other = usual;
  other.key_block = 128;
  configs.push_back(config_of(other));
  return configs;
}

void AttentionGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const AttentionProblem problem = generated::attention_problem(workload);
  const Param lanes = space.ordinal("lanes", generated::lane_values());
  const Param rows = space.ordinal("tile_rows", {1, 2, 3, 4, 6, 8, 12});
  const Param vectors = space.ordinal("tile_vectors", {1, 2, 3, 4});
  const Param keys = space.power_of_two("key_block", 64, 1024);
  const Param group = space.ordinal("group_tiles", {1, 2, 4, 8});
  std::set<int64_t> blocks = {std::min<int64_t>(problem.queries, 128)};
  for (const int64_t count : {16, 32, 48, 64, 96, 192, 256}) blocks.insert(std::min(problem.queries, count));
  const Param queries = space.ordinal("queries", {blocks.begin(), blocks.end()});
  space.require(rows * vectors + vectors + 1 <= vector_registers(), "the tile must fit into the registers");
  space.require(
      {lanes, rows, vectors, keys, group, queries},
      [problem](std::span<const int64_t> v) {
        return fits_stack(problem, {v[0], v[1], v[2], v[3], v[4], v[5]});
      },
      "scratch memory must fit onto the stack");
}

GeneratedKernel AttentionGenerator::emit(const Workload& workload, const Config& config) const {
  const AttentionChoice choice = choice_of(config);
  GeneratedKernel kernel;
  kernel.source =
      generated::emit_attention(workload, choice, codegen::header_comment({workload.key(), to_text(config)}));
  kernel.task_count = generated::attention_tasks(generated::attention_problem(workload), choice);
  return kernel;
}

}  // namespace attune
