#include "rewrite/pipeline.h"

#include "base/error.h"
#include "graph/verify.h"
#include "rewrite/cancel_transposes.h"
#include "rewrite/center_weights.h"
#include "rewrite/compute_in_bytes.h"
#include "rewrite/drop_unit_axes.h"
#include "rewrite/factor_sums.h"
#include "rewrite/fold_batch_norm.h"
#include "rewrite/fold_constants.h"
#include "rewrite/fold_into_tables.h"
#include "rewrite/forget_constants.h"
#include "rewrite/fuse_attention.h"
#include "rewrite/fuse_epilogues.h"
#include "rewrite/fuse_separable.h"
#include "rewrite/fuse_shuffles.h"
#include "rewrite/fuse_squeeze_excite.h"
#include "rewrite/fuse_vectors.h"
#include "rewrite/lift_activations.h"
#include "rewrite/look_up_one_hot.h"
#include "rewrite/merge_casts.h"
#include "rewrite/merge_channel_moves.h"
#include "rewrite/merge_duplicates.h"
#include "rewrite/merge_projections.h"
#include "rewrite/merge_reshapes.h"
#include "rewrite/move_channel_runs.h"
#include "rewrite/name_activations.h"
#include "rewrite/name_channel_shuffle.h"
#include "rewrite/name_layer_norm.h"
#include "rewrite/pool_means.h"
#include "rewrite/remove_dead.h"
#include "rewrite/remove_identities.h"
#include "rewrite/resize_by_factors.h"
#include "rewrite/share_constants.h"
#include "rewrite/spell_out_batch_norm.h"
#include "rewrite/spell_out_einsum.h"
#include "rewrite/spread_deconvolutions.h"
#include "rewrite/take_in_bias.h"
#include "rewrite/take_in_padding.h"
#include "rewrite/turn_gemm_into_matmul.h"
#include "rewrite/use_bf16.h"

#include <algorithm>
#include <chrono>

namespace attune::rewrite {
namespace {

constexpr PassEntry kPasses[] = {
    {"share_constants", "give the bodies of control flow the constants that they read from outside", share_constants},
    // Before weights are dequantised for good, as all that is constant is.
    {"compute_in_bytes", "turn operators between DequantizeLinear and QuantizeLinear into those on bytes",
     compute_in_bytes},
    // Its transposes of constants are folded next.
    {"spell_out_einsum", "write Einsum of two operands as a matrix product", spell_out_einsum},
    {"fold_constants", "compute what depends on constants alone", fold_constants},
    {"remove_identities", "drop nodes that hand their input on", remove_identities},
    {"merge_casts", "cast once where a value is cast twice without loss", merge_casts},
    // From here on no node merely forwards a value, so patterns need not look through such nodes.
    {"merge_duplicates", "compute once what is computed several times", merge_duplicates},
    {"take_in_padding", "give padding with zeros to the convolution or pool after it", take_in_padding},
    {"take_in_bias", "make a constant added to a convolution its bias", take_in_bias},
    {"fold_batch_norm", "multiply inference batch normalisation into the convolution before it", fold_batch_norm},
    {"spell_out_batch_norm", "write batch normalisation that is left as a product and a sum by channel",
     spell_out_batch_norm},
    {"name_activations", "recognise gelu, swish, hard-swish and mish spelled out in primitives", name_activations},
    {"spread_deconvolutions", "write deconvolutions without overlap as 1x1 convolutions and DepthToSpace",
     spread_deconvolutions},
    {"factor_sums", "write x + x * s as x * (1 + s) where s is the smaller", factor_sums},
    {"name_layer_norm", "recognise a layer normalisation spelled out in primitives", name_layer_norm},
    {"drop_unit_axes", "make a convolution over a map of one column one over a sequence", drop_unit_axes},
    {"look_up_one_hot", "read rows of the weights where a one-hot vector multiplies them", look_up_one_hot},
    // Activations have their names.
    {"fold_into_tables", "apply what follows a look-up in a constant table to the table", fold_into_tables},
    {"merge_reshapes", "make one Reshape of a chain of them", merge_reshapes},
    {"name_channel_shuffle", "recognise a channel shuffle spelled as reshape, transpose and reshape",
     name_channel_shuffle},
    {"merge_channel_moves", "give a concat before a channel shuffle and a split after it to the shuffle",
     merge_channel_moves},
    // What is left of transposes is no part of a shuffle.
    {"cancel_transposes", "join transposes and drop those that undo each other", cancel_transposes},
    {"pool_means", "write the mean over a map's positions as GlobalAveragePool", pool_means},
    {"resize_by_factors", "write a Resize by whole factors as Upsample", resize_by_factors},
    {"remove_dead", "drop nodes that nothing reads", remove_dead},
    // No unread node counts as a reader any more, so "read once" means what it says.
    {"turn_gemm_into_matmul", "write Gemm with constant weights as a product with an added bias",
     turn_gemm_into_matmul},
    // Scales and masks are still nodes of their own.
    {"fuse_attention", "put products, masks, softmax and transposes of attention into one operator", fuse_attention},
    {"merge_projections", "make one product of the projections to queries, keys and values", merge_projections},
    // Attention has its transposes.
    {"lift_activations", "apply an activation before the reshapes and transposes between a product and it",
     lift_activations},
    {"move_channel_runs", "split a convolution's channels with the channels last, so that runs of them are moved",
     move_channel_runs},
    {"use_bf16", "compute products and what follows them in bfloat16", use_bf16, true},
    // Activations are single nodes now and every product is a MatMul or Conv.
    {"fuse_epilogues", "give bias, activation and residual add to the product before them", fuse_epilogues},
    {"fuse_separable", "where asked, make one operator of a depthwise convolution and the 1x1 one after it",
     fuse_separable},
    {"fuse_shuffles", "let 1x1 convolutions write their channels where a channel shuffle would move them",
     fuse_shuffles},
    {"fuse_squeeze_excite",
     "make one operator of a map's means, the two 1x1 convolutions behind them and the product with the map",
     fuse_squeeze_excite},
    // Elementwise operators that are left belong to no product.
    {"fuse_vectors", "make one operator of chains of elementwise ones, with softmax or normalisation among them",
     fuse_vectors},
    {"center_weights", "take the zero points off the weights of 8-bit products", center_weights},
    {"forget_constants", "let go of constants that nothing reads any more", forget_constants},
};

/// The places are those of the graph itself, the count is that of its subgraphs too.
PassChanges run_everywhere(Graph& graph, Pass pass, const LeftAlone& left_alone, const AskedFor& asked_for) {
  int inside = 0;
  for (Node& node : graph.nodes())
    for (auto& [name, attribute] : node.attributes)
      if (auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) {
        // Graphs are shared between copies of a node; the rewritten body belongs to this one.
        auto own = std::make_shared<Graph>(**body);
        inside += run_everywhere(*own, pass, left_alone, asked_for).count;
        *body = std::move(own);
      }
  PassChanges changes = pass(graph, left_alone, asked_for);
  changes.count += inside;
  return changes;
}

std::string names_of_passes() {
  std::string names;
  for (const PassEntry& entry : kPasses) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

const PassEntry& require_pass(std::string_view name) {
  const auto* entry = std::ranges::find(kPasses, name, &PassEntry::name);
  if (entry == std::end(kPasses)) throw UserError("there is no pass '{}'; there are: {}", name, names_of_passes());
  return *entry;
}

void require_choosy(std::string_view name) {
  if (!require_pass(name).pass.is_choosy())
    throw UserError("the pass '{}' takes no list of nodes to leave alone; switch it off as a whole", name);
}

void require_on_request(std::string_view name) {
  if (!require_pass(name).pass.is_on_request())
    throw UserError("the pass '{}' takes no list of nodes to fuse: it fuses wherever it can", name);
}

/// What a map has under a name, or something empty.
template <class T> T listed(const std::map<std::string, T, std::less<>>& lists, std::string_view name) {
  const auto found = lists.find(name);
  return found == lists.end() ? T{} : found->second;
}

}  // namespace

std::span<const PassEntry> passes() { return kPasses; }

std::vector<PassResult> run_pipeline(Graph& graph, const PipelineOptions& options) {
  for (const auto* names : {&options.switched_off, &options.switched_on})
    for (const std::string& name : *names) static_cast<void>(require_pass(name));
  for (const auto& [name, nodes] : options.left_alone) require_choosy(name);
  for (const auto& [name, nodes] : options.asked_for) require_on_request(name);
  std::vector<PassResult> results;
  for (const PassEntry& entry : kPasses) {
    if (options.switched_off.count(entry.name) || (entry.on_request && !options.switched_on.count(entry.name)))
      continue;
    const auto begin = std::chrono::steady_clock::now();
    PassChanges changes = run_everywhere(graph, entry.pass, listed(options.left_alone, entry.name),
                                         listed(options.asked_for, entry.name));
    PassResult result{entry.name, changes.count, std::move(changes.places), 0,
                      static_cast<int64_t>(graph.nodes().size())};
    verify(graph);
    result.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    results.push_back(result);
    if (options.after_pass) options.after_pass(entry, result);
  }
  return results;
}

}  // namespace attune::rewrite
