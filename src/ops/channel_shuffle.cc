// attune::ChannelShuffle: channels seen as [groups, channels / groups] are transposed. It may have several inputs,
// whose channels follow each other, and several outputs, which cut the result by `split`. Exporters spell it as concat,
// reshape, transpose, reshape and split; rewriting puts them together.
#include "base/parallel.h"
#include "ops/families.h"
#include "ops/infer_parts.h"

#include <cstring>

namespace attune {
namespace {

constexpr size_t kChannelAxis = 1;

int64_t groups_of(const OpContext& context, int64_t channels) {
  const int64_t groups = context.attr_int("groups");
  if (groups < 1 || channels % groups != 0)
    context.fail("{} channels do not fall into {} groups of equal size", channels, groups);
  return groups;
}

/// Channels of each output.
std::vector<int64_t> parts_of(const OpContext& context, int64_t channels) {
  std::vector<int64_t> parts = context.attr_ints("split", {channels});
  if (parts.size() != static_cast<size_t>(context.output_count()))
    context.fail("'split' has {} entries for {} outputs", parts.size(), context.output_count());
  int64_t total = 0;
  for (const int64_t part : parts) {
    if (part < 0 || part > channels - total) context.fail("'split' does not cut {} channels into parts", channels);
    total += part;
  }
  if (total != channels) context.fail("'split' covers {} of {} channels", total, channels);
  return parts;
}

/// The shape of all inputs side by side; nothing while one of them is unknown.
std::optional<Shape> joined_shape(InferContext& context) {
  std::optional<Shape> joined;
  for (int i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) context.fail("input {} is missing", i);
    if (context.dtype(i) != context.dtype(0)) context.fail("inputs 0 and {} differ in element type", i);
    const auto& shape = context.shape(i);
    if (!shape) return std::nullopt;
    if (shape->size() < 2) context.fail("expected a rank of at least 2, got {}", shape->size());
    if (!joined) {
      joined = shape;
      continue;
    }
    if (shape->size() != joined->size())
      context.fail("inputs have ranks {} and {}, expected one", joined->size(), shape->size());
    for (size_t j = 0; j < shape->size(); ++j)
      (*joined)[j] = j == kChannelAxis ? sum_dim((*joined)[j], (*shape)[j], context)
                                       : merged_dim((*joined)[j], (*shape)[j], context);
  }
  return joined;
}

void infer(InferContext& context) {
  const auto joined = joined_shape(context);
  if (context.dtype(0) != DType::undefined && bit_width(context.dtype(0)) < 8)
    context.fail("{} takes less than a byte", dtype_name(context.dtype(0)));
  if (!joined || !(*joined)[kChannelAxis].is_known()) {
    for (int i = 0; i < context.output_count(); ++i)
      context.set_output(i, context.dtype(0), context.output_count() == 1 ? joined : std::nullopt);
    return;
  }
  const int64_t channels = (*joined)[kChannelAxis].value();
  groups_of(context, channels);
  const std::vector<int64_t> parts = parts_of(context, channels);
  for (int i = 0; i < context.output_count(); ++i) {
    Shape shape = *joined;
    shape[kChannelAxis] = Dim(parts[static_cast<size_t>(i)]);
    context.set_output(i, context.dtype(0), shape);
  }
}

/// One channel of a tensor: where the first image has it, and how far it is to the next image.
template <class Byte> struct Plane {
  Byte* first = nullptr;
  int64_t image_bytes = 0;
};

template <class Byte> void add_planes(std::vector<Plane<Byte>>& planes, Byte* data, int64_t channels, int64_t bytes) {
  for (int64_t c = 0; c < channels; ++c) planes.push_back({data + c * bytes, channels * bytes});
}

void run(KernelContext& context) {
  const Tensor& first = context.input(0);
  const int64_t images = first.dim(0);
  int64_t channels = 0, plane = bit_width(first.dtype()) / 8;
  for (int64_t i = 2; i < first.rank(); ++i) plane *= first.dim(i);
  std::vector<Plane<const std::byte>> from;
  for (int i = 0; i < context.input_count(); ++i) {
    add_planes(from, context.input(i).bytes(), context.input(i).dim(kChannelAxis), plane);
    channels += context.input(i).dim(kChannelAxis);
  }
  const int64_t groups = groups_of(context, channels), each = channels / groups;
  const std::vector<int64_t> parts = parts_of(context, channels);
  std::vector<Plane<std::byte>> to;
  for (int i = 0; i < context.output_count(); ++i)
    add_planes(to, context.wants_output(i) ? context.output(i).mutable_bytes() : nullptr, parts[static_cast<size_t>(i)],
               context.wants_output(i) ? plane : 0);
  if (images * plane * channels == 0) return;
  constexpr int64_t kGrainBytes = 64 << 10;
  parallel_for(images * channels, std::max<int64_t>(1, kGrainBytes / plane), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t image = at / channels, channel = at % channels;
      const auto& src = from[static_cast<size_t>(channel % groups * each + channel / groups)];
      const auto& dst = to[static_cast<size_t>(channel)];
      if (dst.first == nullptr) continue;
      std::memcpy(dst.first + image * dst.image_bytes, src.first + image * src.image_bytes, static_cast<size_t>(plane));
    }
  });
}

const OpDef kOps[] = {{.domain = "attune",
                       .name = "ChannelShuffle",
                       .since = 1,
                       .inputs = {1, kVariadic},
                       .outputs = {1, kVariadic},
                       .layout_class = LayoutClass::decides_speed,
                       .infer = infer,
                       .kernel = run}};

}  // namespace

std::span<const OpDef> channel_shuffle_ops() { return kOps; }

}  // namespace attune
