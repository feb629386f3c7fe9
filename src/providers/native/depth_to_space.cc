#include "providers/native/depth_to_space.h"

#include "ops/node_traits.h"

#include <algorithm>
#include <cstring>

namespace attune::native {
namespace {

/// Sizes of the input, of the square, and of the result's pixels.
struct Squares {
  int64_t rows = 0, width = 0;  // rows of all images
  int64_t side = 1, channels = 0, element_bytes = 0;
  bool by_channel = false;  // CRD: the square's pixels of one channel lie side by side; else those of one pixel do

  explicit Squares(const Workload& workload)
      : rows(workload.input(0).dims[0] * workload.input(0).dims[2]),
        width(workload.input(0).dims[3]),
        side(attribute_or<int64_t>(workload.attributes, "blocksize", 1)),
        channels(workload.output(0).dims[1]),
        element_bytes(bit_width(workload.input(0).dtype) / 8),
        by_channel(attribute_or<std::string>(workload.attributes, "mode", "DCR") == "CRD") {}
  /// Rows of one task: enough bytes that starting it does not show.
  int64_t grain() const {
    return std::max<int64_t>(1, (32 << 10) / std::max<int64_t>(1, width * side * side * channels * element_bytes));
  }
};

class DepthToSpaceKernel final : public Kernel {
 public:
  explicit DepthToSpaceKernel(const Workload& workload) : squares_(workload) {}

  int64_t task_count() const override { return (squares_.rows + squares_.grain() - 1) / squares_.grain(); }
  void run(const KernelArguments& arguments, int64_t begin, int64_t end) const override {
    const int64_t last = std::min(squares_.rows, end * squares_.grain());
    for (int64_t row = begin * squares_.grain(); row < last; ++row) {
      if (!squares_.by_channel)
        spread_pixels(arguments, row);
      else if (squares_.element_bytes == 1)
        spread_channels<uint8_t>(arguments, row);
      else if (squares_.element_bytes == 2)
        spread_channels<uint16_t>(arguments, row);
      else if (squares_.element_bytes == 4)
        spread_channels<uint32_t>(arguments, row);
      else
        spread_channels<uint64_t>(arguments, row);
    }
  }

 private:
  /// A row of every square lies in one piece, here and there.
  void spread_pixels(const KernelArguments& arguments, int64_t row) const {
    const int64_t piece = squares_.side * squares_.channels * squares_.element_bytes;
    const std::byte* from = arguments.inputs[0] + row * squares_.width * squares_.side * piece;
    std::byte* to = arguments.outputs[0] + row * squares_.side * squares_.width * piece;
    for (int64_t i = 0; i < squares_.side; ++i)
      for (int64_t x = 0; x < squares_.width; ++x, to += piece)
        std::memcpy(to, from + (x * squares_.side + i) * piece, static_cast<size_t>(piece));
  }

  template <class T> void spread_channels(const KernelArguments& arguments, int64_t row) const {
    const int64_t side = squares_.side, square = side * side, all = square * squares_.channels;
    const T* from = reinterpret_cast<const T*>(arguments.inputs[0]) + row * squares_.width * all;
    T* to = reinterpret_cast<T*>(arguments.outputs[0]) + row * squares_.width * all;
    for (int64_t i = 0; i < side; ++i)
      for (int64_t x = 0; x < squares_.width; ++x)
        for (int64_t j = 0; j < side; ++j)
          for (int64_t c = 0; c < squares_.channels; ++c) *to++ = from[x * all + c * square + i * side + j];
  }

  Squares squares_;
};

}  // namespace

bool is_depth_to_space(const Workload& workload) { return workload.domain.empty() && workload.op == "DepthToSpace"; }

std::variant<Offer, Refusal> offer_depth_to_space(const Workload& workload) {
  const TensorSpec &src = workload.input(0), &dst = workload.output(0);
  if (src.layout != Layout::nhwc || dst.layout != Layout::nhwc)
    return refuse("native DepthToSpace is for maps in channels-last order, got {} -> {}", to_text(workload.inputs[0]),
                  to_text(workload.outputs[0]));
  if (bit_width(src.dtype) < 8) return refuse("{} takes less than a byte", dtype_name(src.dtype));
  if (element_count(src.dims) == 0) return refuse("the map is empty");
  return Offer{{Config{}}};
}

std::unique_ptr<Kernel> build_depth_to_space(const Workload& workload) {
  return std::make_unique<DepthToSpaceKernel>(workload);
}

}  // namespace attune::native
