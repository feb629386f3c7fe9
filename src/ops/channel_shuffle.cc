// attune::ChannelShuffle: channels seen as [groups, channels / groups] are transposed. Exporters spell it as reshape,
// transpose and reshape; rewriting puts them together.
#include "base/parallel.h"
#include "ops/families.h"

#include <cstring>

namespace attune {
namespace {

int64_t groups_of(const OpContext& context, int64_t channels) {
  const int64_t groups = context.attr_int("groups");
  if (groups < 1 || channels % groups != 0)
    context.fail("{} channels do not fall into {} groups of equal size", channels, groups);
  return groups;
}

void infer(InferContext& context) {
  if (const auto& shape = context.shape(0); shape) {
    if (shape->size() < 2) context.fail("expected a rank of at least 2, got {}", shape->size());
    if ((*shape)[1].is_known()) groups_of(context, (*shape)[1].value());
  }
  context.set_output(0, context.dtype(0), context.shape(0));
}

void run(KernelContext& context) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  if (src.count() == 0) return;
  const int64_t channels = src.dim(1), groups = groups_of(context, channels), each = channels / groups;
  const int64_t plane = src.size_bytes() / (src.dim(0) * channels);
  constexpr int64_t kGrainBytes = 64 << 10;
  parallel_for(src.dim(0) * channels, std::max<int64_t>(1, kGrainBytes / plane), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t image = at / channels, channel = at % channels;
      const int64_t from = channel % groups * each + channel / groups;
      std::memcpy(dst.mutable_bytes() + at * plane, src.bytes() + (image * channels + from) * plane,
                  static_cast<size_t>(plane));
    }
  });
}

const OpDef kOps[] = {{.domain = "attune",
                       .name = "ChannelShuffle",
                       .since = 1,
                       .inputs = {1, 1},
                       .outputs = {1, 1},
                       .layout_class = LayoutClass::decides_speed,
                       .infer = infer,
                       .kernel = run}};

}  // namespace

std::span<const OpDef> channel_shuffle_ops() { return kOps; }

}  // namespace attune
