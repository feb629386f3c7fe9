// BatchNormalization with given statistics, in any layout, and InstanceNormalization, which is batch normalisation of
// one image whose channels are those of all images.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

#include <cstring>

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::batch_normalization_forward::primitive_desc;
using Flags = dnnl::normalization_flags;

// Positions among the inputs.
constexpr size_t kScale = 1, kShift = 2, kMean = 3, kVariance = 4;

bool is_instance(const Workload& workload) { return workload.op == "InstanceNormalization"; }

struct Problem {
  dnnl::memory::desc data, channel;
  float epsilon = 0;
  Flags flags = Flags::use_scale | Flags::use_shift;
  int64_t images = 1, channels = 1;

  explicit Problem(const Workload& workload) {
    require_float(workload, {0});
    const Node node = workload.node();
    const OpContext context(node);
    if (context.attr_int("training_mode", 0) != 0 || context.attr_int("spatial", 1) == 0)
      throw UnsupportedError("batch normalisation in training, or with statistics for each element");
    for (size_t i = 1; i < workload.outputs.size(); ++i)
      if (workload.outputs[i]) throw UnsupportedError("statistics as outputs");
    TensorSpec spec = workload.input(0);
    if (spec.dims.size() < 2 || spec.dims.size() > 5)
      throw UnsupportedError("oneDNN normalises ranks 2 to 5, got {}", to_text(workload.inputs[0]));
    for (size_t i = 1; i < workload.inputs.size(); ++i)
      if (workload.input(i).dtype != DType::f32 || workload.input(i).dims != Dims{spec.dims[1]})
        throw UnsupportedError("parameters must be f32, one for each channel, got {}", to_text(workload.inputs[i]));
    epsilon = context.attr_float("epsilon", 1e-5F);
    channels = spec.dims[1];
    if (is_instance(workload)) {
      images = spec.dims[0];
      if (images > 1 && spec.layout != Layout::plain)
        throw UnsupportedError("several images in layout {}", layout_name(spec.layout));
      spec.dims[1] *= spec.dims[0];
      spec.dims[0] = 1;
    } else {
      flags |= Flags::use_global_stats;
    }
    data = describe(spec);
    channel = describe_plain(DType::f32, {images * channels});
  }
  std::vector<Implementation<PrimitiveDesc>> implementations() const {
    const dnnl::batch_normalization_forward::desc desc(dnnl::prop_kind::forward_inference, data, epsilon, flags);
    return without_references(list_implementations<PrimitiveDesc>(desc, base_attributes()));
  }
};

bool serves(const Workload& workload) {
  return workload.domain.empty() && (workload.op == "BatchNormalization" || is_instance(workload));
}

std::variant<Offer, Refusal> offer(const Workload& workload) {
  return Offer{implementation_configs(Problem(workload).implementations())};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Problem problem(workload);
  const PrimitiveDesc pd = choose_implementation(problem.implementations(), config);
  PrimitiveProgram program;
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, problem.data, Source::input, 0},
                                     {DNNL_ARG_DST, problem.data, Source::output, 0}};
  const auto add = [&](int id, size_t input) {
    if (problem.images == 1) {
      arguments.push_back({id, problem.channel, Source::input, input});
      return;
    }
    const auto bytes = static_cast<size_t>(problem.channels) * sizeof(float);
    arguments.push_back(program.computed(
        id, workload, {input}, problem.channel,
        [bytes, images = problem.images](std::span<const std::byte* const> inputs, std::byte* repeated) {
          for (int64_t i = 0; i < images; ++i) std::memcpy(repeated + static_cast<size_t>(i) * bytes, inputs[0], bytes);
        }));
  };
  add(DNNL_ARG_SCALE, kScale);
  add(DNNL_ARG_SHIFT, kShift);
  if (!is_instance(workload)) {
    add(DNNL_ARG_MEAN, kMean);
    add(DNNL_ARG_VARIANCE, kVariance);
  }
  program.steps.push_back({dnnl::batch_normalization_forward(pd), std::move(arguments)});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kBatchNorm{serves, offer, build};

}  // namespace attune::onednn
