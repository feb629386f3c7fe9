// A bank: what was measured, for ever. Stores differ in where they keep the records; keys, the choice of the best and
// the merging of banks are the same for all.
#pragma once

#include "bank/best.h"
#include "bank/filter.h"
#include "bank/record.h"

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace attune {

struct AddCounts {
  int64_t added = 0;
  int64_t known = 0;    // were there already
  int64_t removed = 0;  // had been removed on purpose, and stay away
};

/// What verify() found. Problems are sentences that name the record.
struct BankHealth {
  int64_t records = 0;
  std::vector<std::string> problems;
  std::vector<std::string> damaged_ids;  // of records whose contents are not those of their id
};

/// Whether a record that is removed may come back by merging: a damaged one may, from a bank where it is whole.
enum class Removal : uint8_t { for_good, until_merged };

using RecordVisitor = std::function<void(const Record&)>;

/// Not thread-safe. Processes may share the file of a bank, but not one object across fork().
class Bank {
 public:
  virtual ~Bank() = default;
  /// Where it is kept, for messages.
  virtual std::string name() const = 0;

  /// All of them or none; when it returns, they survive the end of the process and of the power.
  /// Throws InternalError for a record with a flaw, UserError when the bank cannot be written.
  virtual AddCounts add(std::span<const Record> records) = 0;
  AddCounts add(const Record& record) { return add(std::span(&record, 1)); }

  /// Takes records out. Returns how many there were.
  virtual int64_t remove(std::span<const std::string> ids, Removal removal) = 0;

  /// Calls `visit` for each record that passes, in the order of their ids.
  virtual void each(const RecordFilter& filter, const RecordVisitor& visit) const = 0;

  /// The records of exactly this key, in the order of their ids.
  virtual std::vector<Record> find(const BankKey& key) const = 0;

  /// The devices (BankKey::device) that it has records of.
  virtual std::set<std::string> devices() const;

  /// Reads everything and checks it.
  virtual BankHealth verify() const = 0;

  /// The record to apply for a key, if there is one; see best_of().
  std::optional<Record> best(const BankKey& key, const EnvironmentOf& environment_of) const;
};

}  // namespace attune
