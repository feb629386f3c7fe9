// Which elements of an image a point of GridSample reads, with which weights.
#pragma once

#include "ops/context.h"

#include <vector>

namespace attune {

enum class SampleMode { nearest, linear, cubic };
enum class SamplePadding { zeros, border, reflection };

struct SampleAttributes {
  SampleMode mode = SampleMode::linear;
  SamplePadding padding = SamplePadding::zeros;
  bool align_corners = false;
};
SampleAttributes read_sample_attributes(const OpContext& context);

class SampleTaps {
 public:
  /// For images of these spatial dims, none of them 0.
  SampleTaps(const SampleAttributes& attributes, const Dims& spatial);

  /// `point` has one normalised coordinate for each spatial axis, the last axis first.
  template <class G> void locate(const G* point);

  std::span<const int64_t> offsets() const { return {offsets_.data(), count_}; }
  std::span<const double> weights() const { return {weights_.data(), count_}; }

 private:
  struct AxisTaps {
    int count = 0;
    int64_t indices[4];
    double weights[4];
  };
  AxisTaps axis_taps(size_t axis, double position) const;
  /// The element that index i means under the padding; negative: none.
  int64_t padded_index(size_t axis, int64_t i) const;
  double reflected(size_t axis, double position) const;

  SampleAttributes attributes_;
  Dims spatial_, strides_;
  std::vector<int64_t> offsets_;
  std::vector<double> weights_;
  size_t count_ = 0;
};

}  // namespace attune
