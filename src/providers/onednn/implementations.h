// Every implementation that oneDNN lists for one operation.
#pragma once

#include "kernel/config.h"
#include "providers/onednn/engine.h"

#include "base/error.h"

#include <algorithm>
#include <string>
#include <vector>

namespace attune::onednn {

template <class PrimitiveDesc> struct Implementation {
  std::string name;  // "brgconv:avx512_core"; a repeated name gets "#2"
  PrimitiveDesc pd;
};

inline bool is_reference(const std::string& name) { return name.find("ref") != std::string::npos; }

/// In the library's order, best first; none when it supports nothing. Reference implementations are left out where
/// there is another: they take minutes. `hint` is the forward descriptor that backward ones need.
template <class PrimitiveDesc, class Desc, class... Hint>
std::vector<Implementation<PrimitiveDesc>> list_implementations(const Desc& desc,
                                                                const dnnl::primitive_attr& attributes,
                                                                const Hint&... hint) {
  std::vector<Implementation<PrimitiveDesc>> found;
  // next_impl() reads `desc` again, which our caller keeps alive.
  PrimitiveDesc pd(desc, attributes, engine(), hint..., true);
  if (!pd) return found;
  do {
    std::string name = pd.impl_info_str();
    const auto repeats = std::ranges::count_if(
        found, [&](const auto& other) { return other.name == name || other.name.starts_with(name + "#"); });
    if (repeats > 0) name += "#" + std::to_string(repeats + 1);
    found.push_back({std::move(name), pd});
  } while (pd.next_impl());
  const auto reference = [](const auto& one) { return is_reference(one.name); };
  if (!std::ranges::all_of(found, reference)) std::erase_if(found, reference);
  return found;
}

/// The list without reference implementations, where another provider is quicker than those.
template <class PrimitiveDesc>
std::vector<Implementation<PrimitiveDesc>> without_references(std::vector<Implementation<PrimitiveDesc>> list) {
  std::erase_if(list, [](const auto& one) { return is_reference(one.name); });
  return list;
}

/// The one that a config names under "impl".
template <class PrimitiveDesc>
PrimitiveDesc choose_implementation(const std::vector<Implementation<PrimitiveDesc>>& list, const Config& config) {
  const auto wanted = config.find("impl");
  std::string known;
  for (const auto& one : list) {
    if (wanted != config.end() && wanted->second == one.name) return one.pd;
    known += (known.empty() ? "" : ", ") + one.name;
  }
  throw UserError("oneDNN has no implementation '{}' for this workload; it has: {}",
                  wanted == config.end() ? "" : wanted->second, known);
}

/// Configs with nothing but the implementation, in the order of the list.
template <class PrimitiveDesc>
std::vector<Config> implementation_configs(const std::vector<Implementation<PrimitiveDesc>>& list) {
  std::vector<Config> configs;
  for (const auto& one : list) configs.push_back({{"impl", one.name}});
  return configs;
}

}  // namespace attune::onednn
