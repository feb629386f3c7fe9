// Several banks seen as one: mine, which is written, and others behind it, which are read (a team's, a shipped one).
// Where a record lies gives it no precedence: the evidence decides which is best.
#pragma once

#include "bank/bank.h"

#include <memory>

namespace attune {

class LayeredBank final : public Bank {
 public:
  LayeredBank(std::unique_ptr<Bank> mine, std::vector<std::unique_ptr<Bank>> others);

  using Bank::add;
  std::string name() const override { return mine_->name(); }
  AddCounts add(std::span<const Record> records) override { return mine_->add(records); }
  /// Out of mine; what the others have stays there.
  int64_t remove(std::span<const std::string> ids, Removal removal) override { return mine_->remove(ids, removal); }
  void each(const RecordFilter& filter, const RecordVisitor& visit) const override;
  std::vector<Record> find(const BankKey& key) const override;
  std::set<std::string> devices() const override;
  BankHealth verify() const override;

 private:
  std::vector<const Bank*> layers() const;

  std::unique_ptr<Bank> mine_;
  std::vector<std::unique_ptr<Bank>> others_;
};

}  // namespace attune
