#include "ops/select_nms.h"

#include "ops/convert.h"
#include "ops/infer_parts.h"

#include <algorithm>

namespace attune {
namespace {

struct Box {
  float left, top, right, bottom;
  float area() const { return (right - left) * (bottom - top); }
};

/// From two opposite corners in any order, or from a centre with width and height.
Box read_box(const float* values, bool centered) {
  if (centered)
    return {values[0] - values[2] / 2, values[1] - values[3] / 2, values[0] + values[2] / 2, values[1] + values[3] / 2};
  return {std::min(values[1], values[3]), std::min(values[0], values[2]), std::max(values[1], values[3]),
          std::max(values[0], values[2])};
}

bool overlaps(const Box& a, const Box& b, float threshold) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0 && height > 0)) return false;
  const float common = width * height;
  const float joint = a.area() + b.area() - common;
  return joint > 0 && common / joint > threshold;
}

struct Limits {
  int64_t most = 0;  // boxes for each class
  float overlap = 0;
  std::optional<float> score;
};

Limits limits_of(const KernelContext& context) {
  for (int i = 2; i < context.input_count(); ++i)
    if (context.has_input(i) && context.input(i).count() != 1)
      context.fail("input {} has {} elements, expected one", i, context.input(i).count());
  Limits limits;
  if (context.has_input(2)) limits.most = std::max<int64_t>(0, element_as_int(context.input(2), 0));
  if (context.has_input(3)) limits.overlap = static_cast<float>(element_as_double(context.input(3), 0));
  if (context.has_input(4)) limits.score = static_cast<float>(element_as_double(context.input(4), 0));
  return limits;
}

/// Indices of the boxes to keep, best first.
std::vector<int64_t> select_boxes(const std::vector<Box>& boxes, const float* scores, const Limits& limits) {
  std::vector<int64_t> candidates;
  for (size_t i = 0; i < boxes.size(); ++i)
    if (!limits.score || scores[i] > *limits.score) candidates.push_back(static_cast<int64_t>(i));
  std::sort(candidates.begin(), candidates.end(), [&](int64_t a, int64_t b) {
    // NaN is the worst score: the order must stay a strict one.
    const bool a_nan = scores[a] != scores[a], b_nan = scores[b] != scores[b];
    if (a_nan || b_nan) return a_nan == b_nan ? a < b : b_nan;
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  std::vector<int64_t> selected;
  for (const int64_t candidate : candidates) {
    if (static_cast<int64_t>(selected.size()) >= limits.most) break;
    if (std::none_of(selected.begin(), selected.end(),
                     [&](int64_t better) { return overlaps(boxes[candidate], boxes[better], limits.overlap); }))
      selected.push_back(candidate);
  }
  return selected;
}

}  // namespace

void infer_non_max_suppression(InferContext& context) {
  require_rank(context, 0, 3);
  require_rank(context, 1, 3);
  for (int i = 0; i < 2; ++i)
    if (context.dtype(i) != DType::f32 && context.dtype(i) != DType::undefined)
      context.fail("input {} has dtype {}, expected f32", i, dtype_name(context.dtype(i)));
  const std::optional<Shape>&boxes = context.shape(0), &scores = context.shape(1);
  if (boxes) merged_dim((*boxes)[2], Dim(4), context);
  if (boxes && scores) {
    merged_dim((*boxes)[0], (*scores)[0], context);
    merged_dim((*boxes)[1], (*scores)[2], context);
  }
  context.set_output(0, DType::i64, Shape{Dim::unknown(), Dim(3)});
}

void run_non_max_suppression(KernelContext& context) {
  const Tensor &boxes = context.input(0), &scores = context.input(1);
  const Limits limits = limits_of(context);
  const bool centered = context.attr_int("center_point_box", 0) != 0;
  std::vector<int64_t> rows;
  for (int64_t batch = 0; batch < boxes.dim(0) && scores.count() > 0; ++batch) {
    std::vector<Box> batch_boxes;
    for (int64_t i = 0; i < boxes.dim(1); ++i)
      batch_boxes.push_back(read_box(boxes.data<float>() + (batch * boxes.dim(1) + i) * 4, centered));
    for (int64_t label = 0; label < scores.dim(1); ++label) {
      const float* class_scores = scores.data<float>() + (batch * scores.dim(1) + label) * scores.dim(2);
      for (const int64_t box : select_boxes(batch_boxes, class_scores, limits))
        rows.insert(rows.end(), {batch, label, box});
    }
  }
  context.set_output(0, Tensor::vector(rows).reshaped({static_cast<int64_t>(rows.size()) / 3, 3}));
}

}  // namespace attune
