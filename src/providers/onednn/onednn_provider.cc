#include "providers/onednn/onednn_provider.h"

#include "base/parallel.h"
#include "base/thread_count_scope.h"
#include "device/cpu/amx_palette_scope.h"
#include "providers/onednn/engine.h"
#include "providers/onednn/family.h"
#include "providers/onednn/thread_scope.h"
#include "providers/onednn/tiny_work.h"

#include <oneapi/dnnl/dnnl.hpp>

namespace attune {
namespace {

using onednn::Family;

const Family* const kFamilies[] = {
    &onednn::kConv,    &onednn::kConvGrad,  &onednn::kDeconv,     &onednn::kPool,       &onednn::kMatMul,
    &onednn::kSoftmax, &onednn::kLayerNorm, &onednn::kEltwise,    &onednn::kBinary,     &onednn::kConcat,
    &onednn::kLstm,    &onednn::kConvInt8,  &onednn::kMatMulInt8, &onednn::kResampling, &onednn::kReorder,
    &onednn::kGru,     &onednn::kRnn,       &onednn::kBatchNorm,  &onednn::kLrn,        &onednn::kReduction,
    &onednn::kClip,    &onednn::kPRelu,
};

const Family* find_family(const Workload& workload) {
  for (const Family* family : kFamilies)
    if (family->serves(workload)) return family;
  return nullptr;
}

bool has_empty_operand(const Workload& workload) {
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs)
      if (spec && storage_bytes(*spec).value_or(0) == 0) return true;
  return false;
}

}  // namespace

std::string OnednnProvider::environment() const {
  onednn::engine();  // caps the instruction set first
  const dnnl_version_t* version = dnnl::version();
  return fmt::format("oneDNN {}.{}.{} isa {:#x}", version->major, version->minor, version->patch,
                     static_cast<unsigned>(dnnl::get_effective_cpu_isa()));
}

std::string OnednnProvider::note() const { return onednn::isa_note(); }

std::variant<Offer, Refusal> OnednnProvider::offer(const Workload& workload) const {
  const Family* family = find_family(workload);
  if (family == nullptr) return refuse("oneDNN has no primitive for operator '{}'", workload.op);
  if (has_empty_operand(workload)) return refuse("an operand is empty or omitted where oneDNN needs elements");
  const ThreadCountScope count(onednn::threads_for(workload));
  const onednn::ThreadScope threads(thread_count());
  const AmxPaletteScope palette;
  try {
    auto answer = family->offer(workload);
    if (const auto* offer = std::get_if<Offer>(&answer); offer && offer->configs.empty())
      return refuse("oneDNN lists no implementation of this {} in these types and layouts", workload.op);
    return answer;
  } catch (const dnnl::error& error) {
    return refuse("oneDNN: {}", error.what());
  } catch (const Error& error) {
    return Refusal{error.what()};
  }
}

std::unique_ptr<Kernel> OnednnProvider::build(const Workload& workload, const Config& config) const {
  const Family* family = find_family(workload);
  if (family == nullptr || has_empty_operand(workload))
    throw UserError("oneDNN does not serve the workload {}", workload.key());
  const ThreadCountScope count(onednn::threads_for(workload));
  const onednn::ThreadScope threads(thread_count());
  const AmxPaletteScope palette;
  try {
    return family->build(workload, config);
  } catch (const dnnl::error& error) {
    throw UserError("oneDNN does not build '{}' for {}: {}", to_text(config), workload.key(), error.what());
  }
}

}  // namespace attune
