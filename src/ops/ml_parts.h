// The operators of ai.onnx.ml by file, and what they share: rows of features, labels, scores.
#pragma once

#include "ops/context.h"

#include <array>
#include <span>

namespace attune {

/// The input as rows of features; a vector is one row. Fails for other ranks.
struct FeatureRows {
  int64_t rows = 1;
  int64_t features = 0;
};
FeatureRows feature_rows(const KernelContext& context, int i);
/// The number of rows while analysing.
Dim inferred_rows(const InferContext& context, int i);
/// The number of features while analysing.
Dim inferred_features(const InferContext& context, int i);

/// Integer class labels from the attribute; labels of strings are not supported.
std::vector<int64_t> integer_labels(const OpContext& context, std::string_view integers, std::string_view strings);
/// Fails unless the attribute list has `expected` elements.
void require_size(const OpContext& context, std::string_view name, size_t size, int64_t expected);

enum class PostTransform { none, softmax, logistic, softmax_zero, probit };
PostTransform post_transform_of(const OpContext& context);  // attribute of strings
/// Over all scores of a row. A single score is only changed by probit, as in onnxruntime.
void apply_post_transform(PostTransform transform, std::span<double> scores);

/// How the score of the positive class alone becomes two scores.
enum class SecondClass {
  complement,  // 1-s, s
  negation,    // -s, s
};
std::array<double, 2> two_scores(double score, SecondClass second, PostTransform transform);

void infer_array_feature_extractor(InferContext& context);
void run_array_feature_extractor(KernelContext& context);
void infer_same_type(InferContext& context);
void infer_same_shape_f32(InferContext& context);
void run_binarizer(KernelContext& context);
void infer_feature_vectorizer(InferContext& context);
void run_feature_vectorizer(KernelContext& context);
void run_imputer(KernelContext& context);
void run_normalizer(KernelContext& context);
void infer_one_hot_encoder(InferContext& context);
void run_one_hot_encoder(KernelContext& context);
void run_scaler(KernelContext& context);

void infer_label_encoder(InferContext& context);
void run_label_encoder(KernelContext& context);

void infer_linear_classifier(InferContext& context);
void run_linear_classifier(KernelContext& context);
void infer_linear_regressor(InferContext& context);
void run_linear_regressor(KernelContext& context);

void infer_svm_classifier(InferContext& context);
void run_svm_classifier(KernelContext& context);
void infer_svm_regressor(InferContext& context);
void run_svm_regressor(KernelContext& context);

void infer_tree_classifier(InferContext& context);
void run_tree_classifier(KernelContext& context);
void infer_tree_regressor(InferContext& context);
void run_tree_regressor(KernelContext& context);
void infer_tree_ensemble(InferContext& context);
void run_tree_ensemble(KernelContext& context);

}  // namespace attune
