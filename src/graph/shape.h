// Shapes: symbolic (Shape) while a graph is analysed, concrete (Dims) when tensors exist.
#pragma once

#include "graph/dim.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attune {

using Dims = std::vector<int64_t>;
using Shape = std::vector<Dim>;

Shape to_shape(std::span<const int64_t> dims);
/// The numbers, when every dim is one.
std::optional<Dims> concrete(const Shape& shape);
std::optional<Dims> concrete(const std::optional<Shape>& shape);
/// Product of the dims; nothing on overflow or on a negative dim.
std::optional<int64_t> checked_count(std::span<const int64_t> dims);
/// Product of dims that are known to be valid.
int64_t element_count(std::span<const int64_t> dims);
Dim element_count(const Shape& shape);
/// Row-major strides in elements.
Dims row_major_strides(std::span<const int64_t> dims);
std::string to_text(std::span<const int64_t> dims);      // "1x3x224x224", "scalar"
std::string to_text(const Shape& shape);                 // "Nx3x224x224"
std::string to_text(const std::optional<Shape>& shape);  // "?" for an unknown rank

/// Maps a possibly negative axis into [0, rank); nothing when out of range.
std::optional<int64_t> normalize_axis(int64_t axis, int64_t rank);

}  // namespace attune
