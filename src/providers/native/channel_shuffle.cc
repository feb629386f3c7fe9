#include "providers/native/channel_shuffle.h"

#include "ops/node_traits.h"
#include "providers/native/interleave.h"

#include <algorithm>

namespace attune::native {
namespace {

/// Maps of all images, one pixel after the other, each with its channels.
struct Pixels {
  int64_t count = 1, channels = 0, element_bytes = 0;

  explicit Pixels(const TensorSpec& spec) : channels(spec.dims[1]), element_bytes(bit_width(spec.dtype) / 8) {
    for (size_t i = 0; i < spec.dims.size(); ++i)
      if (i != 1) count *= spec.dims[i];
  }
  /// Pixels of one task: enough bytes that starting it does not show.
  int64_t grain() const { return std::max<int64_t>(1, (32 << 10) / std::max<int64_t>(1, channels * element_bytes)); }
  int64_t tasks() const { return std::max<int64_t>(1, (count + grain() - 1) / grain()); }
};

/// The channels of all inputs side by side, transposed as [groups, each], cut into the outputs.
class ShuffleKernel final : public Kernel {
 public:
  ShuffleKernel(const Workload& workload, int64_t groups) : pixels_(workload.input(0)) {
    std::vector<Place> joined;
    for (size_t i = 0; i < workload.inputs.size(); ++i) {
      input_channels_.push_back(workload.input(i).dims[1]);
      for (int64_t c = 0; c < input_channels_.back(); ++c) joined.push_back({i, c});
    }
    const auto channels = static_cast<int64_t>(joined.size()), each = channels / groups;
    int64_t at = 0;
    for (const auto& output : workload.outputs) {
      Part part{output->dims[1], {}, 0};
      for (int64_t i = 0; i < part.channels; ++i, ++at)
        part.from.push_back(joined[static_cast<size_t>(at % groups * each + at / groups)]);
      part.pairs = count_pairs(part.from);
      parts_.push_back(std::move(part));
    }
  }

  int64_t task_count() const override { return pixels_.tasks(); }
  void run(const KernelArguments& arguments, int64_t begin, int64_t end) const override {
    shuffle_pixels(arguments, begin * pixels_.grain(), std::min(pixels_.count, end * pixels_.grain()));
  }

 private:
  struct Place {
    size_t input;
    int64_t channel;
  };
  struct Part {
    int64_t channels;
    std::vector<Place> from;  // of each channel
    int64_t pairs;            // at its beginning: channels 2i and 2i + 1 come from two places that advance together
  };

  static int64_t count_pairs(const std::vector<Place>& from) {
    int64_t pairs = 0;
    for (size_t i = 0; i + 1 < from.size(); i += 2, ++pairs)
      for (const size_t side : {size_t{0}, size_t{1}})
        if (from[i + side].input != from[side].input ||
            from[i + side].channel != from[side].channel + static_cast<int64_t>(i / 2))
          return pairs;
    return pairs;
  }

  template <class T> void shuffle(const KernelArguments& arguments, const Part& part, std::byte* output, int64_t begin,
                                  int64_t end) const {
    const auto channel = [&](size_t i, int64_t p) {
      const Place& place = part.from[i];
      return reinterpret_cast<const T*>(arguments.inputs[place.input]) + p * input_channels_[place.input] +
             place.channel;
    };
    // What is written past the end of a pixel's channels is overwritten with the next pixel; the last one has none.
    const auto room = [&](size_t i) {
      return part.from[i].channel + part.pairs + kInterleaveStep<T> <= 2 * input_channels_[part.from[i].input];
    };
    const bool roomy = part.pairs > 0 && room(0) && room(1) && part.pairs + kInterleaveStep<T> <= part.channels;
    for (int64_t p = begin; p < end; ++p) {
      T* dst = reinterpret_cast<T*>(output) + p * part.channels;
      if (part.pairs > 0) {  // the usual case of two groups
        if (roomy && p + 1 < end)
          interleave_rounded(channel(0, p), channel(1, p), dst, part.pairs);
        else
          interleave(channel(0, p), channel(1, p), dst, part.pairs);
      }
      for (auto i = static_cast<size_t>(2 * part.pairs); i < part.from.size(); ++i) dst[i] = *channel(i, p);
    }
  }
  void shuffle_pixels(const KernelArguments& arguments, int64_t begin, int64_t end) const {
    for (size_t i = 0; i < parts_.size(); ++i) {
      std::byte* output = arguments.outputs[i];
      switch (pixels_.element_bytes) {
        case 1: shuffle<uint8_t>(arguments, parts_[i], output, begin, end); break;
        case 2: shuffle<uint16_t>(arguments, parts_[i], output, begin, end); break;
        case 4: shuffle<uint32_t>(arguments, parts_[i], output, begin, end); break;
        default: shuffle<uint64_t>(arguments, parts_[i], output, begin, end); break;
      }
    }
  }

  Pixels pixels_;
  std::vector<int64_t> input_channels_;
  std::vector<Part> parts_;
};

}  // namespace

bool is_channel_shuffle(const Workload& workload) {
  return workload.domain == "attune" && workload.op == "ChannelShuffle";
}

std::variant<Offer, Refusal> offer_channel_shuffle(const Workload& workload) {
  const TensorSpec& src = workload.input(0);
  for (size_t i = 0; i < workload.inputs.size(); ++i)
    if (!workload.inputs[i] || workload.input(i).layout != Layout::nhwc || workload.input(i).dims.size() < 3)
      return refuse("the native channel shuffle is for maps in channels-last order, got {}",
                    to_text(workload.inputs[i]));
  for (const auto& output : workload.outputs) {
    if (!output) return refuse("an output is omitted");
    if (output->layout != Layout::nhwc) return refuse("an output is not in channels-last order");
    if (element_count(output->dims) == 0) return refuse("an output is empty");
  }
  if (bit_width(src.dtype) < 8) return refuse("{} takes less than a byte", dtype_name(src.dtype));
  return Offer{{Config{}}};
}

std::unique_ptr<Kernel> build_channel_shuffle(const Workload& workload) {
  const int64_t groups = attribute_or<int64_t>(workload.attributes, "groups", 1);
  return std::make_unique<ShuffleKernel>(workload, groups);
}

}  // namespace attune::native
