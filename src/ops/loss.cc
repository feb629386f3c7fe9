// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include "ops/convert.h"
#include "ops/families.h"
#include "ops/softmax_rows.h"

namespace attune {
namespace {

enum class Reduction { none, sum, mean };

Reduction reduction_of(const OpContext& context) {
  const std::string text = context.attr_string("reduction", "mean");
  if (text == "none") return Reduction::none;
  if (text == "sum") return Reduction::sum;
  if (text == "mean") return Reduction::mean;
  context.fail("attribute 'reduction' is '{}', expected none, sum or mean", text);
}

void infer_loss(InferContext& context) {
  const auto& scores = context.shape(0);
  const auto& labels = context.shape(1);
  if (scores && scores->size() < 2) context.fail("the scores are {}, expected a rank of at least 2", to_text(*scores));
  if (scores && labels && labels->size() + 1 != scores->size())
    context.fail("labels of {} do not belong to scores of {}", to_text(*labels), to_text(*scores));
  if (reduction_of(context) == Reduction::none)
    context.set_output(0, context.dtype(0), labels);
  else
    context.set_output(0, context.dtype(0), Shape{});
}

void infer_softmax_loss(InferContext& context) {
  infer_loss(context);
  context.set_output(1, context.dtype(0), context.shape(0));
}

/// [sample][class][position], checked against the labels.
AxisSplit split_classes(const KernelContext& context) {
  const Dims& scores = context.input(0).dims();
  Dims expected = scores;
  expected.erase(expected.begin() + 1);
  if (context.input(1).dims() != expected)
    context.fail("labels of {} do not belong to scores of {}", to_text(context.input(1).dims()), to_text(scores));
  return split_axis(scores, 1);
}

/// Writes the loss of log-probabilities, reduced as the node asks.
template <class T, class V> void write_loss(KernelContext& context, const V* log_probability, const AxisSplit& split) {
  using C = compute_t<T>;
  const Tensor label_tensor = convert(context.input(1), DType::i64);
  const int64_t* labels = label_tensor.data<int64_t>();
  Tensor weights;
  if (context.has_input(2)) {
    weights = convert(context.input(2), DType::f64);
    if (weights.count() != split.length)
      context.fail("{} weights are given for {} classes", weights.count(), split.length);
  }
  std::optional<int64_t> ignored;
  if (context.has_attr("ignore_index")) ignored = context.attr_int("ignore_index");
  const Reduction reduction = reduction_of(context);

  T* dst = context.output(0).mutable_data<T>();
  double loss_sum = 0, weight_sum = 0;
  for (int64_t i = 0; i < label_tensor.count(); ++i) {
    double loss = 0;
    if (labels[i] != ignored) {
      if (labels[i] < 0 || labels[i] >= split.length)
        context.fail("label {} is out of range for {} classes", labels[i], split.length);
      const double weight = weights.empty() ? 1.0 : weights.data<double>()[labels[i]];
      const int64_t at = (i / split.inner * split.length + labels[i]) * split.inner + i % split.inner;
      loss = -static_cast<double>(static_cast<compute_t<V>>(log_probability[at])) * weight;
      weight_sum += weight;
    }
    loss_sum += loss;
    if (reduction == Reduction::none) dst[i] = static_cast<T>(static_cast<C>(loss));
  }
  if (reduction == Reduction::sum) dst[0] = static_cast<T>(static_cast<C>(loss_sum));
  if (reduction == Reduction::mean) dst[0] = static_cast<T>(static_cast<C>(loss_sum / weight_sum));
}

/// Without samples a sum is 0 and a mean is 0/0; nothing can be split then.
AxisSplit split_or_empty(const KernelContext& context) {
  return context.input(0).count() == 0 ? AxisSplit{0, 0, 0} : split_classes(context);
}

void run_likelihood(KernelContext& context) {
  const Tensor& scores = context.input(0);
  if (scores.count() == 0 && context.input(1).count() != 0) context.fail("there are labels but no classes");
  const AxisSplit split = split_or_empty(context);
  dispatch<FloatTypes>(scores.dtype(), context, [&]<class T>() { write_loss<T>(context, scores.data<T>(), split); });
}

void run_softmax_loss(KernelContext& context) {
  const Tensor& scores = context.input(0);
  if (scores.count() == 0 && context.input(1).count() != 0) context.fail("there are labels but no classes");
  const AxisSplit split = split_or_empty(context);
  dispatch<FloatTypes>(scores.dtype(), context, [&]<class T>() {
    using C = compute_t<T>;
    Tensor log_probability = Tensor::allocate(dtype_of<C>(), scores.dims());
    if (scores.count() != 0)
      softmax<SoftmaxKind::log_probability>(scores.data<T>(), log_probability.mutable_data<C>(), split);
    write_loss<T>(context, log_probability.data<C>(), split);
    if (context.wants_output(1)) context.set_output(1, convert(log_probability, scores.dtype()));
  });
}

double likelihood_flops(const CostContext& context) { return 2 * context.input_elements(1); }
double softmax_loss_flops(const CostContext& context) { return 5 * context.input_elements(0); }

}  // namespace

std::span<const OpDef> loss_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .name = "NegativeLogLikelihoodLoss",
       .since = 12,
       .inputs = {2, 3},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_loss,
       .kernel = run_likelihood,
       .flops = likelihood_flops},
      {.domain = "",
       .name = "SoftmaxCrossEntropyLoss",
       .since = 12,
       .inputs = {2, 3},
       .outputs = {1, 2},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_softmax_loss,
       .kernel = run_softmax_loss,
       .flops = softmax_loss_flops},
  };
  return ops;
}

}  // namespace attune
