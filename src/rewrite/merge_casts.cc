#include "rewrite/merge_casts.h"

#include "ops/infer_graph.h"
#include "rewrite/match.h"
#include "rewrite/remove_dead.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

constexpr int kIdentityOpset = 13;

/// Bits of whole numbers that a type holds exactly, the sign not counted; 0 for types that are not looked at.
int whole_bits(DType dtype) {
  switch (dtype) {
    case DType::f64: return 53;
    case DType::f32: return 24;
    case DType::f16: return 11;
    case DType::bf16: return 8;
    case DType::i64: return 63;
    case DType::i32: return 31;
    case DType::i16: return 15;
    case DType::i8: return 7;
    case DType::u64: return 64;
    case DType::u32: return 32;
    case DType::u16: return 16;
    case DType::u8: return 8;
    case DType::boolean: return 1;
    default: return 0;
  }
}

/// Whether `wide` holds every value of `narrow`.
bool holds_all(DType wide, DType narrow) {
  if (wide == narrow) return true;
  if (whole_bits(wide) == 0 || whole_bits(narrow) == 0 || wide == DType::boolean) return false;
  if (is_float(narrow))
    return wide == DType::f64 || (wide == DType::f32 && (narrow == DType::f16 || narrow == DType::bf16));
  if (is_signed(narrow) && !is_signed(wide)) return false;
  // The range of f16 ends below 2^16, which its 11 exact bits imply already.
  return whole_bits(wide) >= whole_bits(narrow);
}

}  // namespace

int merge_casts(Graph& graph) {
  GraphFacts facts;
  try {
    facts = infer_graph(graph);
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
  const Matcher match(graph);
  const auto dtype = [&](ValueId id) { return facts.types[static_cast<size_t>(id)].dtype; };
  int changes = 0;
  for (Node& last : graph.nodes()) {
    if (!last.domain.empty() || last.op != "Cast") continue;
    const Node* first = match.made_by(last.inputs[0], "Cast");
    if (first == nullptr) continue;
    const ValueId x = first->inputs[0];
    if (dtype(x) == DType::undefined || !holds_all(dtype(first->outputs[0]), dtype(x))) continue;
    last.inputs[0] = x;
    ++changes;
    if (dtype(x) != dtype(last.outputs[0])) continue;
    last.op = "Identity";
    last.version = kIdentityOpset;
    last.attributes.clear();
    const auto& outputs = graph.outputs;
    if (std::find(outputs.begin(), outputs.end(), last.outputs[0]) == outputs.end())
      redirect(graph, last.outputs[0], x);
  }
  if (changes > 0) remove_dead(graph);
  return changes;
}

}  // namespace attune::rewrite
