// Elementwise arithmetic on symbolic contents, for operators that exporters use on shapes.
#pragma once

#include "ops/context.h"

#include <functional>
#include <optional>
#include <vector>

namespace attune {

using Content = std::vector<Dim>;

/// Contents of an input of rank 0 or 1. Beyond InferContext::content this also reads constant floats whose values are
/// whole numbers: exporters compute sizes in floats between two Casts.
std::optional<Content> numbers_of(const InferContext& context, int input);

/// States the content of output 0 as fn of each element of input 0.
void map_content(InferContext& context, const std::function<Dim(const Dim&)>& fn);
/// States the content of output 0 as fn over the elements of inputs [0, count), which broadcast. `output` is the type
/// given to set_output; nothing happens unless every content is known and the result has rank 0 or 1.
void map_contents(InferContext& context, int count, const ValueType& output,
                  const std::function<Dim(const std::vector<Dim>&)>& fn);

// What is provable of two elements; unknown otherwise. Truth is 1 and 0.
Dim equal_content(const Dim& a, const Dim& b);
Dim less_content(const Dim& a, const Dim& b);
Dim max_content(const Dim& a, const Dim& b);
Dim min_content(const Dim& a, const Dim& b);
Dim divide_integers(const Dim& a, const Dim& b);  // truncating
Dim divide_exactly(const Dim& a, const Dim& b);   // unknown unless a is a multiple of b

}  // namespace attune
