// Which records of a bank a plan follows.
#include "runtime/bank_advisor.h"

#include "bank/location.h"
#include "kernel/parse_workload.h"
#include "providers/providers.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace attune {
namespace {

class BankAdvice : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/advisor_" + testing::UnitTest::GetInstance()->current_test_info()->name() +
            std::to_string(getpid()) + ".sqlite";
    std::filesystem::remove(path_);
    bank_ = open_one_bank(path_, BankAccess::read_write);
  }
  void TearDown() override {
    bank_.reset();
    std::filesystem::remove(path_);
  }

  void add(const std::string& config, double ratio, const std::string& message, int64_t measured_at = 1000) {
    Record record;
    record.key = bank_key(workload_, 2);
    record.provider = "reference";
    record.environment = require_provider("reference").environment();
    record.config = {{"variant", config}};
    record.samples_ns = {1000, 1001};
    record.ratio = Ratio{ratio, ratio - 0.01, ratio + 0.01};
    record.max_error = 0;
    record.message = message;
    record.measured_at = measured_at;
    bank_->add(record);
  }
  std::string advised() {
    const BankAdvisor advisor(open_one_bank(path_, BankAccess::read_only), 2);
    const auto advice = advisor.advise(workload_);
    return advice ? advice->config.at("variant") : "default";
  }

  Workload workload_ = parse_workload("Relu@14(f32[1x8]) -> (f32[1x8])");
  std::string path_;
  std::unique_ptr<Bank> bank_;
};

TEST_F(BankAdvice, follows_what_won_inside_of_a_model_only) {
  add("alone", 0.5, "");
  EXPECT_EQ(advised(), "default");
  add("inside", 0.8, model_message("m1"));
  EXPECT_EQ(advised(), "inside");
}

TEST_F(BankAdvice, follows_clear_finals_without_a_model_until_a_model_judges) {
  add("close", 0.945, std::string(kJudgedAlone));
  EXPECT_EQ(advised(), "default");
  add("clear", 0.7, std::string(kJudgedAlone));
  EXPECT_EQ(advised(), "clear");
  add("inside", 0.9, model_message("m1"));
  EXPECT_EQ(advised(), "inside");
  add("inside", 1.1, model_message("m2"));
  add("clear", 1.1, model_message("m2"));
  EXPECT_EQ(advised(), "default");
}

TEST_F(BankAdvice, leaves_out_what_lost_in_any_model) {
  add("both", 0.7, model_message("m1"));
  add("both", 1.1, model_message("m2"));
  add("other", 0.9, model_message("m1"));
  EXPECT_EQ(advised(), "other");
}

TEST_F(BankAdvice, goes_by_the_newest_verdict_in_a_model) {
  add("once", 0.7, model_message("m1"), 1000);
  add("once", 1.0, model_message("m1"), 2000);
  EXPECT_EQ(advised(), "default");
  add("once", 0.8, model_message("m1"), 3000);
  EXPECT_EQ(advised(), "once");
}

}  // namespace
}  // namespace attune
