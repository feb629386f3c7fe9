// Attention on AMX tiles compiles on machines that cannot run it; what it computes is the conformance suite's, where
// tiles are.
#include "providers/generated/attention_text.h"
#include "codegen/compile_text.h"
#include "kernel/parse_workload.h"

namespace attune::generated {
namespace {

TEST(AttentionText, compiles_for_tiles_where_nothing_runs_it) {
  SKIP_WITHOUT_COMPILER();
  for (const int head : {64, 40, 5}) {
    const Workload workload = parse_workload(
        fmt::format("attune::FusedAttention@1(bf16[1x77x{0}], bf16[1x600x{0}], bf16[1x600x{0}], bf16[1x1x1x600]) -> "
                    "(bf16[1x77x2x{1}]) {{heads = 2, head_size = {1}}}",
                    2 * head, head));
    const AttentionChoice choice{16, 16, 4, 256, 4, 64, AttentionProducts::tiles};
    const GeneratedSource source = emit_attention(workload, choice, "// a test\n");
    CompileOptions options;
    options.isa = Isa::amx;
    const auto object = find_compiler().compiler->compile(source, options);
    EXPECT_TRUE(object.ok()) << object.error;
  }
}

}  // namespace
}  // namespace attune::generated
