#include "bank/layered_bank.h"

#include "bank/record_text.h"

#include <fmt/core.h>

#include <map>

namespace attune {

LayeredBank::LayeredBank(std::unique_ptr<Bank> mine, std::vector<std::unique_ptr<Bank>> others)
    : mine_(std::move(mine)), others_(std::move(others)) {}

std::vector<const Bank*> LayeredBank::layers() const {
  std::vector<const Bank*> layers{mine_.get()};
  for (const auto& other : others_) layers.push_back(other.get());
  return layers;
}

void LayeredBank::each(const RecordFilter& filter, const RecordVisitor& visit) const {
  std::map<std::string, Record> records;
  for (const Bank* layer : layers())
    layer->each(filter, [&](const Record& record) { records.emplace(record_id(record), record); });
  for (const auto& [id, record] : records) visit(record);
}

std::vector<Record> LayeredBank::find(const BankKey& key) const {
  std::map<std::string, Record> records;
  for (const Bank* layer : layers())
    for (Record& record : layer->find(key)) {
      std::string id = record_id(record);
      records.emplace(std::move(id), std::move(record));
    }
  std::vector<Record> found;
  for (auto& [id, record] : records) found.push_back(std::move(record));
  return found;
}

std::set<std::string> LayeredBank::devices() const {
  std::set<std::string> devices;
  for (const Bank* layer : layers()) devices.merge(layer->devices());
  return devices;
}

BankHealth LayeredBank::verify() const {
  BankHealth all = mine_->verify();
  for (const auto& other : others_) {
    const BankHealth health = other->verify();
    all.records += health.records;
    for (const std::string& problem : health.problems)
      all.problems.push_back(fmt::format("{}: {}", other->name(), problem));
  }
  return all;
}

}  // namespace attune
