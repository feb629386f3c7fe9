#include "codegen/vector/loop_nest.h"

#include <fmt/core.h>

#include <algorithm>

namespace attune::codegen {
namespace {

bool can_join(const Loop& outer, const Loop& inner) {
  for (size_t i = 0; i < outer.strides.size(); ++i)
    if (outer.strides[i] != inner.strides[i] * inner.extent) return false;
  return true;
}

}  // namespace

LoopNest simplify(LoopNest nest, size_t leader) {
  LoopNest out;
  const size_t operands = nest.loops.empty() ? 0 : nest.loops[0].strides.size();
  std::erase_if(nest.loops, [](const Loop& loop) { return loop.extent == 1; });
  std::ranges::stable_sort(nest.loops,
                           [&](const Loop& a, const Loop& b) { return a.strides[leader] > b.strides[leader]; });
  for (Loop& loop : nest.loops) {
    if (!out.loops.empty() && can_join(out.loops.back(), loop)) {
      loop.extent *= out.loops.back().extent;
      out.loops.back() = std::move(loop);
    } else {
      out.loops.push_back(std::move(loop));
    }
  }
  if (out.loops.empty()) out.loops.push_back({1, std::vector<int64_t>(operands, 1)});
  return out;
}

int64_t outer_iterations(const LoopNest& nest, size_t inner) {
  int64_t count = 1;
  for (size_t i = 0; i + inner < nest.loops.size(); ++i) count *= nest.loops[i].extent;
  return count;
}

int64_t iterations(const LoopNest& nest) { return outer_iterations(nest, 0); }

std::string row_pointers(const LoopNest& nest, size_t inner, const std::vector<RowPointer>& pointers,
                         const std::string& indent) {
  std::string out;
  const size_t count = nest.loops.size() - std::min(inner, nest.loops.size());
  int64_t below = 1;  // rows for each step of the loop
  for (size_t i = count; i-- > 0;) {
    std::string index = below == 1 ? "row" : fmt::format("row / {}", below);
    if (i > 0) index += fmt::format(" % {}", nest.loops[i].extent);
    out += fmt::format("{}const long i{} = {};\n", indent, i, index);
    below *= nest.loops[i].extent;
  }
  for (size_t k = 0; k < pointers.size(); ++k) {
    if (pointers[k].name.empty()) continue;
    std::string offset;
    for (size_t i = 0; i < count; ++i)
      if (const int64_t stride = nest.loops[i].strides[k]; stride != 0)
        offset += stride == 1 ? fmt::format(" + i{}", i) : fmt::format(" + i{} * {}", i, stride);
    out += fmt::format("{}{}* {} = {}{};\n", indent, pointers[k].type, pointers[k].name, pointers[k].base, offset);
  }
  return out;
}

}  // namespace attune::codegen
