// Attributes of a node: a closed set of types, as in ONNX.
#pragma once

#include "graph/tensor.h"

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace attune {

class Graph;

using Attribute = std::variant<int64_t, float, std::string, Tensor, std::vector<int64_t>, std::vector<float>,
                               std::vector<std::string>, std::vector<Tensor>, std::shared_ptr<Graph>>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

std::string_view attribute_kind(const Attribute& attribute);  // "int", "float", "graph" …

}  // namespace attune
