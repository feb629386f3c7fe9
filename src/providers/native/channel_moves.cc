#include "providers/native/channel_moves.h"

#include "ops/node_traits.h"

#include <algorithm>
#include <cstring>

namespace attune::native {
namespace {

bool is_shuffle(const Workload& workload) { return workload.domain == "attune" && workload.op == "ChannelShuffle"; }
bool is_split(const Workload& workload) { return workload.domain.empty() && workload.op == "Split"; }

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

class PixelKernel : public Kernel {
 public:
  explicit PixelKernel(const TensorSpec& spec) : pixels_(spec) {}
  int64_t task_count() const final { return pixels_.tasks(); }
  void run(const KernelArguments& arguments, int64_t begin, int64_t end) const final {
    run_pixels(arguments, begin * pixels_.grain(), std::min(pixels_.count, end * pixels_.grain()));
  }

 protected:
  virtual void run_pixels(const KernelArguments& arguments, int64_t begin, int64_t end) const = 0;
  Pixels pixels_;
};

class ShuffleKernel final : public PixelKernel {
 public:
  ShuffleKernel(const TensorSpec& spec, int64_t groups) : PixelKernel(spec), groups_(groups) {}

 private:
  template <class T> void shuffle(const KernelArguments& arguments, int64_t begin, int64_t end) const {
    const int64_t channels = pixels_.channels, each = channels / groups_;
    for (int64_t p = begin; p < end; ++p) {
      const T* src = reinterpret_cast<const T*>(arguments.inputs[0]) + p * channels;
      T* dst = reinterpret_cast<T*>(arguments.outputs[0]) + p * channels;
      if (groups_ == 2) {  // the usual case, as a loop that compilers vectorise
        for (int64_t i = 0; i < each; ++i) {
          dst[2 * i] = src[i];
          dst[2 * i + 1] = src[each + i];
        }
        continue;
      }
      for (int64_t i = 0; i < each; ++i)
        for (int64_t g = 0; g < groups_; ++g) dst[i * groups_ + g] = src[g * each + i];
    }
  }
  void run_pixels(const KernelArguments& arguments, int64_t begin, int64_t end) const override {
    switch (pixels_.element_bytes) {
      case 1: return shuffle<uint8_t>(arguments, begin, end);
      case 2: return shuffle<uint16_t>(arguments, begin, end);
      case 4: return shuffle<uint32_t>(arguments, begin, end);
      default: return shuffle<uint64_t>(arguments, begin, end);
    }
  }

  int64_t groups_;
};

class SplitKernel final : public PixelKernel {
 public:
  explicit SplitKernel(const Workload& workload) : PixelKernel(workload.input(0)) {
    for (const auto& output : workload.outputs) channels_.push_back(output ? output->dims[1] : 0);
    if (std::ranges::find(channels_, 0) != channels_.end()) throw InternalError("a split with an omitted output");
  }

 private:
  void run_pixels(const KernelArguments& arguments, int64_t begin, int64_t end) const override {
    const int64_t row = pixels_.channels * pixels_.element_bytes;
    int64_t offset = 0;
    for (size_t i = 0; i < channels_.size(); ++i) {
      const int64_t bytes = channels_[i] * pixels_.element_bytes;
      const std::byte* src = arguments.inputs[0] + offset;
      for (int64_t p = begin; p < end; ++p)
        std::memcpy(arguments.outputs[i] + p * bytes, src + p * row, static_cast<size_t>(bytes));
      offset += bytes;
    }
  }

  std::vector<int64_t> channels_;  // of each output
};

int64_t split_axis(const Workload& workload) {
  const int64_t axis = attribute_or<int64_t>(workload.attributes, "axis", 0);
  return axis < 0 ? axis + static_cast<int64_t>(workload.input(0).dims.size()) : axis;
}

}  // namespace

bool moves_channels(const Workload& workload) { return is_shuffle(workload) || is_split(workload); }

std::variant<Offer, Refusal> offer_channel_moves(const Workload& workload) {
  const TensorSpec& src = workload.input(0);
  if (src.layout != Layout::nhwc || src.dims.size() < 3)
    return refuse("native moves of channels are for maps in channels-last order, got {}", to_text(workload.inputs[0]));
  for (const auto& output : workload.outputs) {
    if (!output) return refuse("an output is omitted");
    if (output->layout != Layout::nhwc) return refuse("an output is not in channels-last order");
    if (element_count(output->dims) == 0) return refuse("an output is empty");
  }
  if (bit_width(src.dtype) < 8) return refuse("{} takes less than a byte", dtype_name(src.dtype));
  if (is_split(workload) && split_axis(workload) != 1) return refuse("native Split is along the channels alone");
  return Offer{{Config{}}};
}

std::unique_ptr<Kernel> build_channel_moves(const Workload& workload) {
  if (is_split(workload)) return std::make_unique<SplitKernel>(workload);
  const int64_t groups = attribute_or<int64_t>(workload.attributes, "groups", 1);
  return std::make_unique<ShuffleKernel>(workload.input(0), groups);
}

}  // namespace attune::native
