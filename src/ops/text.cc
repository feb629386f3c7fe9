// TfIdfVectorizer over integer tokens: counts the n-grams of a pool in each row, with gaps allowed between tokens.
#include "ops/convert.h"
#include "ops/families.h"
#include "ops/infer_parts.h"

#include <algorithm>
#include <map>

namespace attune {
namespace {

/// The n-grams of the pool as a tree of tokens.
class NgramTree {
 public:
  static constexpr int64_t kRoot = 0;
  static constexpr int64_t kNone = -1;

  void add(std::span<const int64_t> tokens, int64_t column) {
    int64_t node = kRoot;
    for (const int64_t token : tokens) {
      const auto [entry, added] = children_.try_emplace({node, token}, static_cast<int64_t>(columns_.size()));
      if (added) columns_.push_back(kNone);
      node = entry->second;
    }
    columns_[node] = column;
  }
  /// kNone when no n-gram goes on like this.
  int64_t child(int64_t node, int64_t token) const {
    const auto found = children_.find({node, token});
    return found == children_.end() ? kNone : found->second;
  }
  /// The output column of the n-gram that ends here, or kNone.
  int64_t column(int64_t node) const { return columns_[node]; }

 private:
  std::map<std::pair<int64_t, int64_t>, int64_t> children_;
  std::vector<int64_t> columns_{kNone};
};

struct Settings {
  int64_t min_length, max_length, max_skip;
  int64_t columns;
  enum class Mode { tf, idf, tfidf } mode;
  std::vector<float> weights;
};

Settings settings_of(const OpContext& context) {
  if (context.has_attr("pool_strings")) context.unsupported("string tokens are not supported");
  Settings settings{};
  settings.min_length = context.attr_int("min_gram_length");
  settings.max_length = context.attr_int("max_gram_length");
  settings.max_skip = context.attr_int("max_skip_count");
  if (settings.min_length < 1 || settings.max_length < settings.min_length || settings.max_skip < 0 ||
      settings.max_skip == INT64_MAX)
    context.fail("n-grams of {} to {} tokens with {} skips make no sense", settings.min_length, settings.max_length,
                 settings.max_skip);
  const std::vector<int64_t>& indexes = context.attr_ints("ngram_indexes");
  for (const int64_t index : indexes) {
    if (index < 0 || index >= INT32_MAX) context.fail("output column {} is out of range", index);
    settings.columns = std::max(settings.columns, index + 1);
  }
  const std::string& mode = context.attr_string("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") context.fail("mode '{}' is not one of TF, IDF, TFIDF", mode);
  settings.mode = mode == "TF" ? Settings::Mode::tf : mode == "IDF" ? Settings::Mode::idf : Settings::Mode::tfidf;
  settings.weights = context.attr_floats("weights", {});
  if (!settings.weights.empty() && static_cast<int64_t>(settings.weights.size()) < settings.columns)
    context.fail("{} weights for {} output columns", settings.weights.size(), settings.columns);
  return settings;
}

NgramTree tree_of(const OpContext& context, const Settings& settings) {
  const std::vector<int64_t>& pool = context.attr_ints("pool_int64s");
  const std::vector<int64_t>& starts = context.attr_ints("ngram_counts");
  const std::vector<int64_t>& indexes = context.attr_ints("ngram_indexes");
  NgramTree tree;
  size_t ngram = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t first = starts[i];
    const int64_t last = i + 1 < starts.size() ? starts[i + 1] : static_cast<int64_t>(pool.size());
    const int64_t length = static_cast<int64_t>(i) + 1;
    if (first < 0 || last < first || last > static_cast<int64_t>(pool.size()) || (last - first) % length != 0)
      context.fail("ngram_counts do not divide the pool of {} tokens", pool.size());
    for (int64_t at = first; at < last; at += length, ++ngram) {
      if (ngram >= indexes.size()) context.fail("{} ngram_indexes are fewer than the n-grams", indexes.size());
      if (length >= settings.min_length && length <= settings.max_length)
        tree.add(std::span(pool).subspan(static_cast<size_t>(at), static_cast<size_t>(length)), indexes[ngram]);
    }
  }
  return tree;
}

/// Adds the n-grams of one row to `counts`.
void count_row(const NgramTree& tree, const Settings& settings, std::span<const int64_t> row, float* counts) {
  const auto size = static_cast<int64_t>(row.size());
  const int64_t widest = std::min(settings.max_skip + 1, std::max<int64_t>(size, 1));  // wider gaps leave the row
  for (int64_t distance = 1; distance <= widest; ++distance) {
    for (int64_t start = 0; start < size; ++start) {
      int64_t node = NgramTree::kRoot, length = 0;
      for (int64_t at = start; at < size; at += distance) {
        node = tree.child(node, row[at]);
        if (node == NgramTree::kNone) break;
        ++length;
        // Single tokens have no gaps: every distance finds the same.
        if (tree.column(node) != NgramTree::kNone && (length > 1 || distance == 1)) ++counts[tree.column(node)];
      }
    }
  }
}

void infer_tfidf(InferContext& context) {
  const DType dtype = context.dtype(0);
  if (dtype != DType::undefined) require_index_dtype(context, 0);
  const Dim columns(settings_of(context).columns);
  const std::optional<Shape>& shape = context.shape(0);
  if (shape && shape->size() > 2) context.fail("input 0 has rank {}, expected at most 2", shape->size());
  std::optional<Shape> result;
  if (shape) result = shape->size() == 2 ? Shape{(*shape)[0], columns} : Shape{columns};
  context.set_output(0, DType::f32, result);
}

void run_tfidf(KernelContext& context) {
  const Tensor tokens = index_tensor(context, 0);
  const Settings settings = settings_of(context);
  const NgramTree tree = tree_of(context, settings);
  Tensor& dst = context.output(0);
  if (dst.count() == 0) return;
  float* out = dst.mutable_data<float>();
  std::fill_n(out, dst.count(), 0.0f);
  const int64_t rows = dst.count() / settings.columns, width = tokens.count() / rows;
  for (int64_t row = 0; row < rows; ++row) {
    float* counts = out + row * settings.columns;
    count_row(tree, settings, {tokens.data<int64_t>() + row * width, static_cast<size_t>(width)}, counts);
    for (int64_t i = 0; i < settings.columns; ++i) {
      const float weight = settings.weights.empty() ? 1.0f : settings.weights[i];
      if (settings.mode == Settings::Mode::idf) counts[i] = counts[i] > 0 ? weight : 0.0f;
      if (settings.mode == Settings::Mode::tfidf) counts[i] *= weight;
    }
  }
}

}  // namespace

std::span<const OpDef> text_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .name = "TfIdfVectorizer",
       .since = 9,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_tfidf,
       .kernel = run_tfidf},
  };
  return ops;
}

}  // namespace attune
