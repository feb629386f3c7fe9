#include "providers/native/attention.h"

#include "base/parallel.h"
#include "base/task_shares.h"
#include "ops/fused_attention.h"
#include "providers/native/attention_loops.h"

#include <algorithm>
#include <charconv>

namespace attune::native {
namespace {

constexpr size_t kMask = AttentionAttributes::kMask;
const std::string kQueriesKey = "queries";  // of a task
constexpr int64_t kFewestQueries = 24;      // fewer do not repay the packing of keys and values

std::optional<Refusal> find_refusal(const Workload& workload) {
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs)
      if (spec && spec->layout != Layout::plain)
        return refuse("native attention takes operands in plain layout, got {}", to_text(spec));
  const DType dtype = workload.input(0).dtype;
  if (dtype != DType::f32 && dtype != DType::bf16)
    return refuse("native attention computes on f32 and bf16, got {}", to_text(workload.input(0)));
  for (size_t i = 0; i < workload.inputs.size(); ++i)
    if (workload.has_input(i) && element_count(workload.input(i).dims) == 0) return refuse("an operand is empty");
  if (element_count(workload.output(0).dims) == 0) return refuse("there is nothing to compute in an empty tensor");
  return std::nullopt;
}

AttentionProblem problem_of(const Workload& workload) {
  const Node node = workload.node();
  return {OpContext(node), workload.input(0).dims, workload.input(1).dims, workload.input(2).dims,
          workload.has_input(kMask) ? &workload.input(kMask).dims : nullptr};
}

class AttentionKernel final : public Kernel {
 public:
  AttentionKernel(const Workload& workload, int64_t queries)
      : problem_(problem_of(workload)),
        loops_(attention_loops()),
        element_bytes_(bit_width(workload.input(0).dtype) / 8),
        threads_(thread_count()),
        queries_(queries),
        blocks_((problem_.queries + queries - 1) / queries) {
    block_.element = workload.input(0).dtype == DType::f32 ? AttentionElement::f32 : AttentionElement::bf16;
    block_.q_stride = problem_.q.row;
    block_.k_stride = problem_.k.row;
    block_.v_stride = problem_.v.row;
    block_.y_stride = problem_.y.row;
    block_.queries = std::min(queries, problem_.queries);
    block_.keys = problem_.keys;
    const AttentionAttributes& attributes = problem_.attributes;
    block_.head_size = attributes.head_size;
    block_.value_size = attributes.value_size;
    block_.scale = attributes.scale;
    block_.visible_value = attributes.true_is_visible ? 1 : 0;
    block_.mask_row_stride = problem_.mask.row;
    block_.mask_column_stride = problem_.mask.column;
    block_.causal = attributes.causal;
    block_.fill = attributes.fill.value_or(0.0F);
    has_mask_ = workload.has_input(kMask);
    mask_is_added_ = has_mask_ && workload.input(kMask).dtype != DType::boolean;
  }

  int64_t workspace_bytes() const override {
    return threads_ * loops_.workspace_floats(block_) * static_cast<int64_t>(sizeof(float));
  }

  void run(const KernelArguments& arguments, int64_t, int64_t) const override {
    const int64_t tasks = problem_.batch * problem_.attributes.heads * blocks_;
    const int64_t scratch = loops_.workspace_floats(block_);
    const int members = static_cast<int>(std::min<int64_t>(tasks, std::min(threads_, thread_count())));
    TaskShares shares(tasks, members);
    run_team(members, [&](int rank, int) {
      float* workspace = reinterpret_cast<float*>(arguments.workspace) + rank * scratch;
      for (int64_t task = shares.take(rank); task >= 0; task = shares.take(rank)) run_task(arguments, task, workspace);
    });
  }

 private:
  void run_task(const KernelArguments& arguments, int64_t task, float* workspace) const {
    // Under a causal mask the last queries have most to do, so that they come first.
    const int64_t first = (blocks_ - 1 - task % blocks_) * queries_;
    const int64_t h = task / blocks_ % problem_.attributes.heads, b = task / blocks_ / problem_.attributes.heads;
    AttentionBlock block = block_;
    block.queries = std::min(queries_, problem_.queries - first);
    block.q = arguments.inputs[0] + problem_.q.at(b, h, first) * element_bytes_;
    block.k = arguments.inputs[1] + problem_.k.at(b, h, 0) * element_bytes_;
    block.v = arguments.inputs[2] + problem_.v.at(b, h, 0) * element_bytes_;
    block.y = arguments.outputs[0] + problem_.y.at(b, h, first) * element_bytes_;
    block.first_visible = problem_.first_visible() + first;
    if (has_mask_) {
      const int64_t at = b * problem_.mask.batch + h * problem_.mask.head + first * problem_.mask.row;
      const std::byte* mask = arguments.inputs[kMask];
      if (mask_is_added_)
        block.added = mask + at * element_bytes_;
      else
        block.visible = reinterpret_cast<const uint8_t*>(mask) + at;
    }
    block.workspace = workspace;
    loops_.attend(block);
  }

  AttentionProblem problem_;
  const AttentionLoops& loops_;
  int64_t element_bytes_;
  int threads_;
  int64_t queries_, blocks_;
  AttentionBlock block_;  // what all tasks share
  bool has_mask_ = false, mask_is_added_ = false;
};

/// Heads as they are where there are enough for all threads, else parts of them.
int64_t usual_queries(const AttentionProblem& problem) {
  constexpr int64_t kMostQueries = 192;  // whose results stay in the cache beside keys and values
  constexpr int64_t kTasksPerThread = 3;
  const int64_t heads = problem.batch * problem.attributes.heads;
  const int64_t wanted = std::max<int64_t>(1, (kTasksPerThread * thread_count() + heads - 1) / heads);
  const int64_t blocks = std::max(wanted, (problem.queries + kMostQueries - 1) / kMostQueries);
  return std::clamp((problem.queries + blocks - 1) / blocks, std::min(kFewestQueries, problem.queries),
                    problem.queries);
}

int64_t queries_of(const Config& config, const AttentionProblem& problem) {
  const auto found = config.find(kQueriesKey);
  int64_t queries = 0;
  if (found != config.end() && config.size() == 1)
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), queries);
  if (queries < 1 || queries > problem.queries)
    throw UserError("'{}' does not configure an attention; expected {}=1 to {}", to_text(config), kQueriesKey,
                    problem.queries);
  return queries;
}

Config config_of(int64_t queries) { return {{kQueriesKey, std::to_string(queries)}}; }

}  // namespace

bool is_attention(const Workload& workload) { return workload.domain == "attune" && workload.op == "FusedAttention"; }

std::variant<Offer, Refusal> offer_attention(const Workload& workload) {
  if (auto refusal = find_refusal(workload)) return *refusal;
  const AttentionProblem problem = problem_of(workload);
  const int64_t usual = usual_queries(problem);
  Offer offer{{config_of(usual)}};
  for (const int64_t other : {2 * usual, usual / 2})
    if (other >= kFewestQueries && other <= problem.queries) offer.configs.push_back(config_of(other));
  return offer;
}

std::unique_ptr<Kernel> build_attention(const Workload& workload, const Config& config) {
  if (const auto refusal = find_refusal(workload)) throw UserError("{}", refusal->reason);
  return std::make_unique<AttentionKernel>(workload, queries_of(config, problem_of(workload)));
}

}  // namespace attune::native
