#include "ops/op_case.h"

namespace attune::test {
namespace {

OpCase bigrams(const char* mode, int64_t skips) {
  return OpCase("TfIdfVectorizer")
      .attr("mode", std::string(mode))
      .attr("min_gram_length", int64_t{1})
      .attr("max_gram_length", int64_t{2})
      .attr("max_skip_count", skips)
      .attr("ngram_counts", std::vector<int64_t>{0, 1})
      .attr("ngram_indexes", std::vector<int64_t>{0, 1})
      .attr("pool_int64s", std::vector<int64_t>{7, 7, 8})
      .attr("weights", std::vector<float>{2, 3});
}

TEST(TfIdfVectorizer, counts_with_gaps_but_single_tokens_once) {
  const Tensor tokens = i64({4}, {7, 7, 8, 8});
  expect_near(bigrams("TF", 0).input(tokens).run()[0], f32({2}, {2, 1}));
  expect_near(bigrams("TF", 5).input(tokens).run()[0], f32({2}, {2, 4}));
  expect_near(bigrams("IDF", 0).input(tokens).run()[0], f32({2}, {2, 3}));
  expect_near(bigrams("TFIDF", 0).input(tokens).run()[0], f32({2}, {4, 3}));
}

TEST(TfIdfVectorizer, refuses_counts_that_do_not_divide_the_pool) {
  EXPECT_THROW(bigrams("TF", 0).attr("ngram_counts", std::vector<int64_t>{0, 2}).input(i64({1}, {7})).run(), UserError);
}

}  // namespace
}  // namespace attune::test
