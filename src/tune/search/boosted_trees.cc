#include "tune/search/boosted_trees.h"

#include "base/error.h"

#include <xgboost/c_api.h>

#include <cmath>
#include <utility>

namespace attune::tune {
namespace {

void check(int status) {
  if (status != 0) throw InternalError("xgboost: {}", XGBGetLastError());
}

class Matrix {
 public:
  Matrix(const std::vector<float>& rows, size_t count) {
    check(XGDMatrixCreateFromMat(rows.data(), count, rows.size() / count, NAN, &handle_));
  }
  ~Matrix() { XGDMatrixFree(handle_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  void set(const char* field, const std::vector<float>& values) {
    check(XGDMatrixSetFloatInfo(handle_, field, values.data(), values.size()));
  }
  DMatrixHandle handle() const { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

}  // namespace

struct BoostedTrees::Inner {
  Options options;
  BoosterHandle booster = nullptr;

  void reset() {
    if (booster != nullptr) XGBoosterFree(std::exchange(booster, nullptr));
  }
};

bool BoostedTrees::is_available() { return true; }

BoostedTrees::BoostedTrees(Options options) : inner_(std::make_unique<Inner>()) { inner_->options = options; }

BoostedTrees::~BoostedTrees() { inner_->reset(); }

void BoostedTrees::fit(const std::vector<float>& rows, const std::vector<float>& values,
                       const std::vector<float>& weights) {
  Matrix matrix(rows, values.size());
  matrix.set("label", values);
  matrix.set("weight", weights);
  inner_->reset();
  const DMatrixHandle handle = matrix.handle();
  check(XGBoosterCreate(&handle, 1, &inner_->booster));
  const auto set = [&](const char* name, const std::string& value) {
    check(XGBoosterSetParam(inner_->booster, name, value.c_str()));
  };
  set("verbosity", "0");
  set("nthread", "1");  // the cores belong to measurements, and sums in one order give one result
  set("objective", "reg:squarederror");
  set("tree_method", "exact");
  set("base_score", "0");
  set("max_depth", std::to_string(inner_->options.depth));
  set("eta", std::to_string(inner_->options.learning_rate));
  set("lambda", std::to_string(inner_->options.l2));
  set("min_child_weight", std::to_string(inner_->options.min_child_weight));
  for (int i = 0; i < inner_->options.trees; ++i) check(XGBoosterUpdateOneIter(inner_->booster, i, handle));
}

std::vector<float> BoostedTrees::predict(const std::vector<float>& rows, size_t count) const {
  if (count == 0) return {};
  const Matrix matrix(rows, count);
  bst_ulong length = 0;
  const float* values = nullptr;
  check(XGBoosterPredict(inner_->booster, matrix.handle(), 0, 0, 0, &length, &values));
  return {values, values + length};
}

}  // namespace attune::tune
