#include "bank/merge.h"

#include "bank/jsonl.h"
#include "bank/sample_records.h"
#include "bank/sqlite/sqlite_bank.h"
#include "base/error.h"
#include "io/temp_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attune {
namespace {

std::string exported(const Bank& bank) {
  std::string text;
  export_jsonl(bank, {}, [&](std::string_view line) { text += line; });
  return text;
}

class Merge : public testing::Test {
 protected:
  /// A bank that does not exist yet.
  std::unique_ptr<SqliteBank> new_bank() {
    return std::make_unique<SqliteBank>(folder_.file(fmt::format("bank{}.sqlite", number_++)));
  }
  std::vector<AddCounts> merge(Bank& target, const std::vector<const Bank*>& sources) {
    return merge_banks(target, sources);
  }

  TempFolder folder_{TempFolder::in_memory()};
  int number_ = 0;
};

TEST_F(Merge, gives_the_same_bytes_in_every_order_and_grouping) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    std::vector<Record> pool;
    for (int i = 0; i < 40; ++i) pool.push_back(random_record(random));
    std::vector<std::unique_ptr<SqliteBank>> banks;
    std::set<std::string> all;
    for (int b = 0; b < 4; ++b) {
      banks.push_back(new_bank());
      std::vector<Record> part;  // overlapping
      for (const Record& record : pool)
        if (random.below(2) == 0) part.push_back(record);
      banks.back()->add(part);
      for (const Record& record : part) all.insert(record_id(record));
    }
    std::vector<const Bank*> order;
    for (const auto& bank : banks) order.push_back(bank.get());
    std::ranges::sort(order);
    std::string expected;
    do {
      // ((a + b) + c) + d, then a + ((b + c) + d), each followed by everything once more.
      const auto left = new_bank(), inner = new_bank(), right = new_bank();
      for (const Bank* bank : order) merge(*left, {bank});
      merge(*inner, {order[1], order[2]});
      merge(*inner, {order[3]});
      merge(*right, {order[0], inner.get()});
      merge(*right, order);
      merge(*right, {right.get(), left.get()});
      if (expected.empty()) expected = exported(*left);
      ASSERT_EQ(exported(*left), expected);
      ASSERT_EQ(exported(*right), expected);
    } while (std::ranges::next_permutation(order).found);
    const auto merged = new_bank();
    merge(*merged, order);
    EXPECT_EQ(ids_of(*merged), all) << "nothing is lost, failures included";
    EXPECT_TRUE(merged->verify().problems.empty());
  }
}

TEST_F(Merge, counts_what_is_new_known_and_removed) {
  const auto target = new_bank(), source = new_bank();
  target->add(std::vector{sample_record(0), sample_record(1)});
  target->remove(std::vector{record_id(sample_record(1))}, Removal::for_good);
  source->add(std::vector{sample_record(0), sample_record(1), sample_record(2)});
  const std::vector<AddCounts> counts = merge(*target, {source.get()});
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].added, 1);
  EXPECT_EQ(counts[0].known, 1);
  EXPECT_EQ(counts[0].removed, 1);
}

TEST_F(Merge, marks_what_comes_from_elsewhere) {
  const auto target = new_bank(), source = new_bank();
  target->add(sample_record(0));
  source->add(std::vector{sample_record(0), sample_record(1)});
  merge(*target, {source.get()});
  target->each({}, [](const Record& record) {
    EXPECT_EQ(record.origin, record.config.at("variant") == "0" ? Origin::local : Origin::imported);
  });
}

Record of_another_processor(int number) {
  Record record = sample_record(number);
  record.key.device =
      "cpu vendor=AuthenticAMD family=25 model=17 stepping=1; isa=avx2; caches=; cores=2; hypervisor=yes";
  return record;
}

TEST_F(Merge, refuses_banks_of_different_processors_and_changes_nothing) {
  const auto target = new_bank(), same = new_bank(), other = new_bank();
  target->add(sample_record(0));
  Record more_cores = sample_record(1);
  more_cores.key.device.replace(more_cores.key.device.find("cores=2"), 7, "cores=8");
  same->add(more_cores);
  other->add(of_another_processor(2));
  try {
    merge(*target, {same.get(), other.get()});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("merge banks of one processor only, nothing was changed"),
              std::string::npos);
    EXPECT_NE(std::string(error.what()).find("AuthenticAMD"), std::string::npos);
  }
  EXPECT_EQ(ids_of(*target).size(), 1u);
  merge(*target, {same.get()});
  EXPECT_EQ(ids_of(*target).size(), 2u);

  const auto fresh = new_bank();
  EXPECT_THROW(merge(*fresh, {same.get(), other.get()}), UserError);
  EXPECT_THROW(merge(*fresh, {other.get(), same.get()}), UserError);
  EXPECT_TRUE(ids_of(*fresh).empty());
}

TEST_F(Merge, takes_records_of_each_processor_that_the_target_has_measured_on) {
  const auto target = new_bank(), source = new_bank();
  target->add(std::vector{sample_record(0), of_another_processor(0)});
  source->add(of_another_processor(1));
  merge(*target, {source.get()});
  EXPECT_EQ(ids_of(*target).size(), 3u);
}

}  // namespace
}  // namespace attune
