// Operators of ai.onnx.ml on numbers; those of strings and maps are not supported.
#include "ops/families.h"
#include "ops/ml_parts.h"

namespace attune {
namespace {

constexpr OpDef ml_op(std::string_view name, int since, Arity inputs, Arity outputs, void (*infer)(InferContext&),
                      void (*kernel)(KernelContext&)) {
  return {.domain = "ai.onnx.ml",
          .name = name,
          .since = since,
          .inputs = inputs,
          .outputs = outputs,
          .layout_class = LayoutClass::decides_function,
          .infer = infer,
          .kernel = kernel,
          .flops = elementwise_flops};
}

}  // namespace

std::span<const OpDef> ml_ops() {
  constexpr Arity one{1, 1};
  constexpr Arity label_and_scores{1, 2};
  static const OpDef ops[] = {
      ml_op("ArrayFeatureExtractor", 1, {2, 2}, one, infer_array_feature_extractor, run_array_feature_extractor),
      ml_op("Binarizer", 1, one, one, infer_same_type, run_binarizer),
      ml_op("FeatureVectorizer", 1, {1, kVariadic}, one, infer_feature_vectorizer, run_feature_vectorizer),
      ml_op("Imputer", 1, one, one, infer_same_type, run_imputer),
      ml_op("LabelEncoder", 1, one, one, infer_label_encoder, run_label_encoder),
      ml_op("LinearClassifier", 1, one, label_and_scores, infer_linear_classifier, run_linear_classifier),
      ml_op("LinearRegressor", 1, one, one, infer_linear_regressor, run_linear_regressor),
      ml_op("Normalizer", 1, one, one, infer_same_shape_f32, run_normalizer),
      ml_op("OneHotEncoder", 1, one, one, infer_one_hot_encoder, run_one_hot_encoder),
      ml_op("SVMClassifier", 1, one, label_and_scores, infer_svm_classifier, run_svm_classifier),
      ml_op("SVMRegressor", 1, one, one, infer_svm_regressor, run_svm_regressor),
      ml_op("Scaler", 1, one, one, infer_same_shape_f32, run_scaler),
      ml_op("TreeEnsemble", 5, one, one, infer_tree_ensemble, run_tree_ensemble),
      ml_op("TreeEnsembleClassifier", 1, one, label_and_scores, infer_tree_classifier, run_tree_classifier),
      ml_op("TreeEnsembleRegressor", 1, one, one, infer_tree_regressor, run_tree_regressor),
  };
  return ops;
}

}  // namespace attune
