// TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor.
#include "base/parallel.h"
#include "ops/convert.h"
#include "ops/ml_parts.h"
#include "ops/ml_tree.h"

#include <algorithm>
#include <functional>

namespace attune {
namespace {

constexpr int64_t kMostTargets = 1 << 24;

enum class Aggregate { average, sum, min, max };

Aggregate aggregate_of(const OpContext& context) {
  const std::string text = context.attr_string("aggregate_function", "SUM");
  if (text == "AVERAGE") return Aggregate::average;
  if (text == "SUM") return Aggregate::sum;
  if (text == "MIN") return Aggregate::min;
  if (text == "MAX") return Aggregate::max;
  context.fail("attribute 'aggregate_function' is '{}', expected AVERAGE, SUM, MIN or MAX", text);
}

int64_t target_count(const OpContext& context) {
  const int64_t targets = context.attr_int("n_targets", 1);
  if (targets < 1 || targets > kMostTargets)
    context.fail("attribute 'n_targets' is {}, expected 1 to {}", targets, kMostTargets);
  return targets;
}

/// What the trees say about one row; a target without votes has a score of 0.
struct RowScores {
  std::vector<double> scores;
  std::vector<bool> voted;

  void reset(size_t targets) {
    scores.assign(targets, 0.0);
    voted.assign(targets, false);
  }
  void add(const Vote& vote, Aggregate aggregate) {
    const auto target = static_cast<size_t>(vote.target);
    double& score = scores[target];
    if (!voted[target])
      score = vote.weight;
    else if (aggregate == Aggregate::min)
      score = std::min(score, vote.weight);
    else if (aggregate == Aggregate::max)
      score = std::max(score, vote.weight);
    else
      score += vote.weight;
    voted[target] = true;
  }
};

/// Calls body(row, scores) for every row of the input.
void for_each_row(const KernelContext& context, const Forest& forest, Aggregate aggregate, int64_t targets,
                  const std::function<void(int64_t, RowScores&)>& body) {
  const FeatureRows rows = feature_rows(context, 0);
  if (forest.most_feature >= rows.features)
    context.fail("a node reads feature {}, but rows have {}", forest.most_feature, rows.features);
  const Tensor src = convert(context.input(0), DType::f64);
  const auto trees = static_cast<int64_t>(forest.roots.size());
  parallel_for(rows.rows, std::max<int64_t>(1, 1024 / (trees + 1)), [&](int64_t begin, int64_t end) {
    RowScores result;
    for (int64_t row = begin; row < end; ++row) {
      result.reset(static_cast<size_t>(targets));
      for (const int32_t root : forest.roots) {
        const TreeNode& leaf = forest.leaf_of(root, src.data<double>() + row * rows.features, context);
        for (const Vote& vote : forest.votes_of(leaf)) result.add(vote, aggregate);
      }
      if (aggregate == Aggregate::average && trees > 0)
        for (double& score : result.scores) score /= static_cast<double>(trees);
      body(row, result);
    }
  });
}

/// One base value for each target, or one for all.
std::vector<double> base_values(const OpContext& context, int64_t targets) {
  auto values = floats_or_tensor(context, "base_values");
  if (values.empty()) values.assign(1, 0.0);
  if (values.size() == 1) values.resize(static_cast<size_t>(targets), values[0]);
  require_size(context, "base_values", values.size(), targets);
  return values;
}

void run_regression(KernelContext& context, const Forest& forest, Aggregate aggregate, PostTransform transform,
                    const std::vector<double>& base) {
  const auto targets = static_cast<int64_t>(base.size());
  Tensor result = Tensor::allocate(DType::f64, context.output(0).dims());
  double* all = result.mutable_data<double>();
  for_each_row(context, forest, aggregate, targets, [&](int64_t row, RowScores& scores) {
    for (size_t t = 0; t < base.size(); ++t) scores.scores[t] += base[t];
    apply_post_transform(transform, scores.scores);
    std::copy(scores.scores.begin(), scores.scores.end(), all + row * targets);
  });
  context.set_output(0, convert(result, context.output(0).dtype()));
}

/// The votes of a classifier in the form that decides how two classes are read.
struct BinaryForm {
  bool one_class_votes = false;  // every vote is for the same class: its score decides between the two
  bool all_positive = false;     // then scores are probabilities, else margins
};

BinaryForm binary_form(const Forest& forest, size_t classes) {
  BinaryForm form{classes == 2 && !forest.votes.empty(), true};
  for (const Vote& vote : forest.votes) {
    if (vote.target != forest.votes.front().target) form.one_class_votes = false;
    if (vote.weight < 0) form.all_positive = false;
  }
  return form;
}

/// The best class among those that were voted for; class 0 when none was.
size_t best_class(const RowScores& row) {
  size_t best = row.scores.size();
  for (size_t c = 0; c < row.scores.size(); ++c)
    if (row.voted[c] && (best == row.scores.size() || row.scores[c] > row.scores[best])) best = c;
  return best == row.scores.size() ? 0 : best;
}

}  // namespace

void infer_tree_classifier(InferContext& context) {
  const auto labels = integer_labels(context, "classlabels_int64s", "classlabels_strings");
  const Dim rows = inferred_rows(context, 0);
  context.set_output(0, DType::i64, Shape{rows});
  context.set_output(1, DType::f32, Shape{rows, static_cast<int64_t>(labels.size())});
}

void run_tree_classifier(KernelContext& context) {
  const auto labels = integer_labels(context, "classlabels_int64s", "classlabels_strings");
  const auto classes = static_cast<int64_t>(labels.size());
  const PostTransform transform = post_transform_of(context);
  const Forest forest = forest_from_tables(context, "class", classes);
  const BinaryForm form = binary_form(forest, labels.size());
  auto base = floats_or_tensor(context, "base_values");
  if (base.size() > 1) require_size(context, "base_values", base.size(), classes);
  const auto voted_class = static_cast<size_t>(form.one_class_votes ? forest.votes.front().target : 0);
  int64_t* label = context.output(0).mutable_data<int64_t>();
  float* out = context.wants_output(1) ? context.output(1).mutable_data<float>() : nullptr;
  for_each_row(context, forest, Aggregate::sum, classes, [&](int64_t row, RowScores& result) {
    auto& scores = result.scores;
    if (base.size() == 1) scores[voted_class] += base[0];
    for (size_t c = 0; base.size() > 1 && c < scores.size(); ++c) {
      scores[c] += base[c];
      result.voted[c] = true;
    }
    if (form.one_class_votes && base.size() < 2) {
      const double score = scores[voted_class];
      label[row] = labels[score > (form.all_positive ? 0.5 : 0.0) ? 1 : 0];
      if (voted_class == 0) {  // the only score stands for the second, positive class
        const auto both =
            two_scores(score, form.all_positive ? SecondClass::complement : SecondClass::negation, transform);
        scores.assign(both.begin(), both.end());
      } else {
        apply_post_transform(transform, scores);
      }
    } else if (classes == 1) {
      label[row] = scores[0] > 0 ? 1 : 0;  // one label says nothing about the other side, so both are named by sign
      apply_post_transform(transform, scores);
    } else {
      label[row] = labels[best_class(result)];
      apply_post_transform(transform, scores);
    }
    for (int64_t c = 0; out != nullptr && c < classes; ++c)
      out[row * classes + c] = static_cast<float>(scores[static_cast<size_t>(c)]);
  });
}

void infer_tree_regressor(InferContext& context) {
  context.set_output(0, DType::f32, Shape{inferred_rows(context, 0), target_count(context)});
}

void run_tree_regressor(KernelContext& context) {
  const int64_t targets = target_count(context);
  const Forest forest = forest_from_tables(context, "target", targets);
  run_regression(context, forest, aggregate_of(context), post_transform_of(context), base_values(context, targets));
}

void infer_tree_ensemble(InferContext& context) {
  context.set_output(0, context.dtype(0), Shape{inferred_rows(context, 0), target_count(context)});
}

void run_tree_ensemble(KernelContext& context) {
  const int64_t targets = target_count(context);
  const int64_t aggregate = context.attr_int("aggregate_function", 1);
  const int64_t transform = context.attr_int("post_transform", 0);
  if (aggregate < 0 || aggregate > 3) context.fail("aggregate_function {} is not known", aggregate);
  if (transform < 0 || transform > 4) context.fail("post_transform {} is not known", transform);
  const Forest forest = forest_from_arrays(context, targets);
  // The numbers of both attributes are in the order of our enumerations.
  run_regression(context, forest, static_cast<Aggregate>(aggregate), static_cast<PostTransform>(transform),
                 std::vector<double>(static_cast<size_t>(targets), 0.0));
}

}  // namespace attune
