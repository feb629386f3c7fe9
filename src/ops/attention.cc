// Attention, FlexAttention, LinearAttention, RotaryEmbedding.
#include "ops/attention.h"

#include "ops/families.h"

namespace attune {
namespace attention {

Dim head_size_of(const Dim& hidden, int64_t heads, const OpContext& context, std::string_view what) {
  if (heads < 1) context.fail("the number of heads of {} is {}", what, heads);
  if (hidden.is_known() && hidden.value() % heads != 0)
    context.fail("the hidden size {} of {} is not a multiple of its {} heads", hidden.value(), what, heads);
  return hidden.floor_div(heads);
}

void check_heads(int64_t q_heads, int64_t kv_heads, const OpContext& context) {
  if (kv_heads < 1 || q_heads < 1 || q_heads % kv_heads != 0)
    context.fail("{} heads of queries cannot share {} heads of keys and values", q_heads, kv_heads);
}

void expect_equal(const Dim& a, const Dim& b, const OpContext& context, std::string_view what) {
  if (a.is_known() && b.is_known() && a.value() != b.value())
    context.fail("{} differ: {} and {}", what, a.value(), b.value());
}

}  // namespace attention

namespace {

using namespace attention;

constexpr OpDef kOps[] = {
    {.domain = "",
     .name = "Attention",
     .since = 23,
     .inputs = {3, 7},
     .outputs = {1, 4},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_attention,
     .kernel = run_attention,
     .flops = attention_flops},
    {.domain = "",
     .name = "LinearAttention",
     .since = 27,
     .inputs = {3, 6},
     .outputs = {1, 2},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_linear_attention,
     .kernel = run_linear_attention,
     .flops = linear_attention_flops},
    {.domain = "",
     .name = "RotaryEmbedding",
     .since = 23,
     .inputs = {3, 4},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_rotary_embedding,
     .kernel = run_rotary_embedding,
     .flops = rotary_flops},
    {.domain = "ai.onnx.preview",
     .name = "FlexAttention",
     .since = 1,
     .inputs = {3, 3},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_flex_attention,
     .kernel = run_flex_attention,
     .flops = attention_flops},
};

}  // namespace

std::span<const OpDef> attention_ops() { return kOps; }

}  // namespace attune
