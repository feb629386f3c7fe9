#include "providers/providers.h"

#include "providers/generated/generated_provider.h"
#include "providers/native/native_provider.h"
#include "providers/null/null_provider.h"
#ifdef ATTUNE_HAS_ONEDNN
#include "providers/onednn/onednn_provider.h"
#endif
#include "providers/reference/reference_provider.h"

namespace attune {

std::span<const Provider* const> providers() {
  static const GeneratedProvider generated;
  static const NativeProvider native;
  static const ReferenceProvider reference;
#ifdef ATTUNE_HAS_ONEDNN
  static const OnednnProvider onednn;
  static const Provider* const list[] = {&native, &onednn, &generated, &reference};
#else
  static const Provider* const list[] = {&native, &generated, &reference};
#endif
  return list;
}

std::span<const Provider* const> every_provider() {
  static const NullProvider null;
  static const std::vector<const Provider*> list = [] {
    std::vector<const Provider*> all(providers().begin(), providers().end());
    all.push_back(&null);
    return all;
  }();
  return list;
}

const Provider& require_provider(std::string_view name) {
  std::string known;
  for (const Provider* provider : providers()) {
    if (provider->name() == name) return *provider;
    known += (known.empty() ? "" : ", ") + std::string(provider->name());
  }
  throw UserError("there is no provider '{}'; this build has: {}", name, known);
}

}  // namespace attune
