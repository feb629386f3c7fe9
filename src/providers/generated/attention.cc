#include "providers/generated/attention.h"

#include "base/parallel.h"
#include "codegen/isa.h"
#include "codegen/text.h"
#include "providers/generated/attention_text.h"
#include "providers/generated/vector_parameters.h"

#include <algorithm>
#include <array>
#include <set>

namespace attune {
namespace {

using generated::AttentionChoice;
using generated::AttentionProducts;

constexpr int64_t kMostScratchBytes = 1 << 20;  // a thread's stack has a few megabytes
constexpr int64_t kTileRows = 16;               // of an AMX tile

int64_t vector_registers() { return usable_isa() >= Isa::avx512 ? 32 : 16; }

constexpr std::array<const char*, 3> kProducts{"wide", "pairs", "tiles"};  // as AttentionProducts

/// What the instruction set has, the fastest last. Products of f32 have no choice.
std::vector<AttentionProducts> possible_products(const Workload& workload) {
  std::vector<AttentionProducts> products = {AttentionProducts::wide};
  if (workload.input(0).dtype != DType::bf16) return products;
  if (usable_isa() >= Isa::avx512_bf16) products.push_back(AttentionProducts::pairs);
  if (usable_isa() >= Isa::amx) products.push_back(AttentionProducts::tiles);
  return products;
}

AttentionChoice usual_choice(const Workload& workload, AttentionProducts products) {
  const AttentionProblem problem = generated::attention_problem(workload);
  AttentionChoice choice;
  choice.lanes = generated::lane_values().front();
  choice.tile_rows = usable_isa() == Isa::baseline ? 4 : 6;
  choice.tile_vectors = usable_isa() >= Isa::avx512 ? 4 : 2;
  choice.key_block = 256;
  choice.group_tiles = 4;
  choice.queries = std::min<int64_t>(problem.queries, 128);
  choice.products = products;
  if (products == AttentionProducts::tiles) choice.tile_rows = kTileRows;
  return choice;
}

AttentionChoice usual_choice(const Workload& workload) {
  return usual_choice(workload, possible_products(workload).back());
}

Config config_of(const Workload& workload, const AttentionChoice& choice) {
  Config config = {{"lanes", std::to_string(choice.lanes)},
                   {"tile_rows", std::to_string(choice.tile_rows)},
                   {"tile_vectors", std::to_string(choice.tile_vectors)},
                   {"key_block", std::to_string(choice.key_block)},
                   {"group_tiles", std::to_string(choice.group_tiles)},
                   {"queries", std::to_string(choice.queries)}};
  if (possible_products(workload).size() > 1) config["products"] = kProducts[static_cast<size_t>(choice.products)];
  return config;
}

AttentionChoice choice_of(const Config& config) {
  const generated::Parameters parameters(config);
  AttentionChoice choice = {parameters.number("lanes"),        parameters.number("tile_rows"),
                            parameters.number("tile_vectors"), parameters.number("key_block"),
                            parameters.number("group_tiles"),  parameters.number("queries")};
  if (parameters.has("products"))
    choice.products =
        static_cast<AttentionProducts>(std::ranges::find(kProducts, parameters.text("products")) - kProducts.begin());
  return choice;
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
  AttentionChoice other = usual_choice(workload);
  configs.push_back(config_of(workload, other));
  other.group_tiles = 2;
  configs.push_back(config_of(workload, other));
  const auto products = possible_products(workload);
  for (size_t i = products.size() - 1; i-- > 0;)
    configs.push_back(config_of(workload, usual_choice(workload, products[i])));
  return configs;
}

void AttentionGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const AttentionProblem problem = generated::attention_problem(workload);
  const Param lanes = space.ordinal("lanes", generated::lane_values());
  const Param rows = space.ordinal("tile_rows", {1, 2, 3, 4, 6, 8, 12, kTileRows});
  const Param vectors = space.ordinal("tile_vectors", {1, 2, 3, 4});
  const Param keys = space.power_of_two("key_block", 64, 1024);
  const Param group = space.ordinal("group_tiles", {1, 2, 4, 8});
  std::set<int64_t> blocks = {std::min<int64_t>(problem.queries, 128)};
  for (const int64_t count : {16, 32, 48, 64, 96, 192, 256}) blocks.insert(std::min(problem.queries, count));
  const Param queries = space.ordinal("queries", {blocks.begin(), blocks.end()});
  space.require(
      {lanes, rows, vectors, keys, group, queries},
      [problem](std::span<const int64_t> v) {
        return fits_stack(problem, {v[0], v[1], v[2], v[3], v[4], v[5], AttentionProducts::tiles});
      },
      "scratch memory must fit onto the stack");
  const int64_t registers = vector_registers();
  const auto fits = [registers](int64_t tile_rows, int64_t tile_vectors) {
    return tile_rows * tile_vectors + tile_vectors + 1 <= registers;
  };
  constexpr const char* kFits = "the tile must fit into the registers";
  const auto products = possible_products(workload);
  if (products.size() == 1) {
    space.require(
        {rows, vectors}, [fits](std::span<const int64_t> v) { return fits(v[0], v[1]); }, kFits);
    return;
  }
  const Param multiply = space.categorical("products", {kProducts.begin(), kProducts.begin() + products.size()});
  constexpr auto kPairs = static_cast<int64_t>(AttentionProducts::pairs);
  constexpr auto kTiles = static_cast<int64_t>(AttentionProducts::tiles);
  space.require(
      {rows, vectors, multiply},
      [fits](std::span<const int64_t> v) { return v[2] == kTiles ? v[0] == kTileRows : fits(v[0], v[1]); },
      "the tile must fit into the registers, and have 16 rows on AMX tiles");
  space.require(
      {lanes, multiply},
      [](std::span<const int64_t> v) {
        return v[0] >= (v[1] == kTiles ? 16 : v[1] == kPairs ? 8 : 1);
      },
      "pairs are multiplied in vectors of 8 or 16, results of AMX tiles are read in vectors of 16");
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
