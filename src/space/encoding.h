// Points as numbers, for models that learn from them.
#pragma once

#include "space/space.h"

namespace attune {

/// How ordered parameters are scaled. unit: by rank into [0, 1], for distances within one space. natural: the base-2
/// logarithm of the value, which means the same in the spaces of other workloads.
enum class Scale : uint8_t { unit, natural };

/// Ordered parameters and booleans are one number, other texts one of 0 and 1 for each value, permutations the place of
/// each item. An absent parameter is 0 in unit scale, where one more number says whether it is there, and NaN in
/// natural scale.
class Encoding {
 public:
  Encoding(const Space& space, Scale scale);

  size_t width() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }    // "bm", "layout=nhwc", "order[k]"
  const std::vector<size_t>& parameters() const { return columns_; }  // the parameter of each number
  std::vector<float> encode(const Point& point) const;
  /// Of a configuration of another space: what this one does not know is missing (NaN), numbers beyond its values are
  /// scaled alike. In natural scale only.
  std::vector<float> encode(const Config& config) const;

 private:
  std::vector<std::shared_ptr<const Parameter>> parameters_;
  std::vector<size_t> columns_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::vector<float>>> rows_;  // of each parameter: the numbers of each choice, absence last
};

}  // namespace attune
