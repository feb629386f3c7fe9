#include "bank/device_fingerprint.h"
#include "base/error.h"
#include "job/function/function_record.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

/// Sizes matter by their ratios: 1 to 2 is as far as 512 to 1024.
double distance(const Dims& a, const Dims& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double logs =
        std::log2(1 + std::abs(static_cast<double>(a[i]))) - std::log2(1 + std::abs(static_cast<double>(b[i])));
    sum += logs * logs;
  }
  return sum;
}

/// Why nothing of the record counts here; empty: it does.
std::string why_not(const FunctionRecord& record, const TunableFunction& function) {
  if (record.device != device_text())
    return fmt::format("the record was measured on another device ('{}', this is '{}')", record.device, device_text());
  if (record.version != function.version)
    return fmt::format("the record was measured with version '{}' of '{}', this is '{}'", record.version, function.name,
                       function.version);
  if (record.shapes.empty()) return "the record has no shapes";
  return "";
}

}  // namespace

void check_record(const FunctionRecord& record, const TunableFunction& function) {
  if (record.name == function.name && record.dims == function.dims) return;
  throw UserError("the record is of '{}' with {} dims, not of '{}' with {}; give the record of this computation",
                  record.name, record.dims.size(), function.name, function.dims.size());
}

FunctionChoice choose_config(const FunctionRecord& record, const TunableFunction& function, const Dims& shape) {
  check_record(record, function);
  check_shape(function, shape);
  const Space space = space_of(function, shape);
  FunctionChoice choice{space.default_config(), FunctionMatch::standard, {}, why_not(record, function)};
  if (!choice.why.empty()) return choice;
  std::vector<const ShapeRecord*> order;
  for (const ShapeRecord& measured : record.shapes) order.push_back(&measured);
  std::stable_sort(order.begin(), order.end(), [&](const ShapeRecord* a, const ShapeRecord* b) {
    return distance(a->shape, shape) < distance(b->shape, shape);
  });
  for (const ShapeRecord* measured : order) {
    // The default of another shape is no finding: this shape's own serves as well.
    const Config& found = measured->best == measured->standard ? space.default_config() : measured->best;
    if (!space.index_of(found)) continue;  // constraints are of a shape
    const std::string here = shape_text(function, shape), there = shape_text(function, measured->shape);
    if (measured->shape == shape)
      return {found, FunctionMatch::exact, shape,
              fmt::format("measured at {}: {:.2f}x as fast as the default", here, 1 / measured->ratio.value)};
    return {found, FunctionMatch::nearest, measured->shape,
            fmt::format("{} was not measured; this is what was best at {}", here, there)};
  }
  if (record.overall && space.index_of(*record.overall))
    return {*record.overall,
            FunctionMatch::overall,
            {},
            fmt::format("{} was not measured and takes the configuration of no measured shape; this is the best over "
                        "all of them",
                        shape_text(function, shape))};
  choice.why = fmt::format("{} was not measured and takes no configuration that was", shape_text(function, shape));
  return choice;
}

}  // namespace attune
