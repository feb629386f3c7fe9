#include "bank/best.h"

#include "bank/sample_records.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

Record with_ratio(int number, double low, double value, double high, size_t samples = 3) {
  Record record = sample_record(number);
  record.ratio = Ratio{value, low, high};
  record.samples_ns.assign(samples, 1000);
  return record;
}

std::string variant(const Record* record) { return record == nullptr ? "none" : record->config.at("variant"); }

TEST(Best, has_the_lowest_upper_end_of_its_interval) {
  const std::vector<Record> records = {with_ratio(1, 0.8, 0.85, 0.9), with_ratio(2, 0.6, 0.65, 0.7),
                                       with_ratio(3, 0.5, 0.8, 1.1)};
  EXPECT_EQ(variant(best_of(records, sample_environment)), "2");
}

TEST(Best, of_equally_fast_ones_has_most_samples_then_is_newest_then_has_the_smaller_text) {
  std::vector<Record> records = {with_ratio(1, 0.6, 0.65, 0.7, 3), with_ratio(2, 0.62, 0.69, 0.75, 9),
                                 with_ratio(3, 0.62, 0.71, 0.75, 99)};
  EXPECT_EQ(variant(best_of(records, sample_environment)), "2") << "0.71 is not within 0.6 to 0.7";
  records = {with_ratio(1, 0.6, 0.65, 0.7), with_ratio(2, 0.6, 0.66, 0.72)};
  ++records[1].measured_at;
  EXPECT_EQ(variant(best_of(records, sample_environment)), "2");
  --records[1].measured_at;
  EXPECT_EQ(variant(best_of(records, sample_environment)), "1");
}

TEST(Best, is_ok_verified_and_never_found_wrong) {
  std::vector<Record> records = {with_ratio(1, 0.1, 0.1, 0.1), with_ratio(2, 0.2, 0.2, 0.2),
                                 with_ratio(3, 0.3, 0.3, 0.3), with_ratio(4, 0.4, 0.4, 0.4)};
  records[0].outcome = Outcome::implausible;
  records[1].max_error = 1;
  records.push_back(with_ratio(3, 0.3, 0.3, 0.3));
  records.back().outcome = Outcome::wrong;
  EXPECT_EQ(variant(best_of(records, sample_environment)), "4");
  records.back().environment = "another";
  EXPECT_EQ(variant(best_of(records, sample_environment)), "3") << "wrong elsewhere says nothing about here";
}

TEST(Best, is_of_the_present_environment_of_its_own_provider) {
  std::vector<Record> records = {with_ratio(1, 0.1, 0.1, 0.1), with_ratio(2, 0.2, 0.2, 0.2)};
  records[0].environment += ".1";
  EXPECT_EQ(variant(best_of(records, sample_environment)), "2");
  records[1].provider = "gone";
  EXPECT_EQ(variant(best_of(records, sample_environment)), "none");
  EXPECT_EQ(variant(best_of(records, nullptr)), "1");
}

TEST(Best, does_not_depend_on_the_order_of_records) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<Record> records;
    for (int i = 0; i < 12; ++i) records.push_back(random_record(random));
    for (Record& record : records) record.key = sample_key();
    const Record* first = best_of(records, sample_environment);
    const std::string expected = first == nullptr ? "" : record_id(*first);
    for (int shuffle = 0; shuffle < 5; ++shuffle) {
      for (size_t i = records.size(); i > 1; --i)
        std::swap(records[i - 1], records[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
      const Record* best = best_of(records, sample_environment);
      ASSERT_EQ(best == nullptr ? "" : record_id(*best), expected);
    }
  }
}

}  // namespace
}  // namespace attune
