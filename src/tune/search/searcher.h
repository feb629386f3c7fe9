// A search algorithm: asks for points of a space and learns from what came of them. Pure: what it asks depends on the
// space, the options and the sequence of calls alone; it knows no clock and no device.
#pragma once

#include "tune/search/history.h"

namespace attune::tune {

/// A measurement of another workload, from the bank: what the model learns from before it has its own.
struct PriorRecord {
  Config config;
  std::map<std::string, double> workload;  // features, such as m, n and k
  Outcome outcome = Outcome::ok;
  double cost = 0;  // comparable among records with equal features
};

struct SearchOptions {
  uint64_t seed = 1;
  int budget = 0;  // trials that are planned, 0 where nobody knows: it decides how much is explored before polishing
  std::vector<uint64_t> first;  // asked first after the default, such as the best points of the nearest records
  std::map<std::string, double> workload;
  std::vector<PriorRecord> prior;
};

/// Not thread-safe.
class Searcher {
 public:
  /// The space must outlive the searcher.
  Searcher(const Space& space, SearchOptions options);
  virtual ~Searcher() = default;
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;

  virtual std::string_view name() const = 0;
  /// Up to `count` points, none of which was asked, told or skipped before. Fewer when the space is exhausted or
  /// nothing more is worth asking; none: the search is over.
  std::vector<uint64_t> ask(int count);
  /// Points that were not asked may be told, too: records of an earlier run.
  void tell(const Observation& observation);
  /// Somebody else measures this point.
  void skip(uint64_t index);
  /// How much each candidate promises, higher is better; for choosing among points that are all to be tried.
  virtual std::vector<double> promise(const std::vector<uint64_t>& candidates);
  const History& history() const { return history_; }

  /// As JSON. A new searcher of the same kind with the same space and options continues from it, asking the same.
  std::string save() const;
  /// Throws UserError for what does not fit.
  void restore(const std::string& text);

 protected:
  /// At most `count` points; those seen already are dropped. Empty: nothing more to ask.
  virtual std::vector<uint64_t> propose(int count) = 0;
  virtual void learn(const Observation&) {}

  const Space& space_;
  SearchOptions options_;
  Random random_;
  History history_;

 private:
  struct Event {
    enum class Kind : uint8_t { ask, tell, skip } kind;
    int count = 0;
    std::vector<uint64_t> asked;
    Observation observation;
  };
  /// State is what happened: doing it again leads to the same state, for every algorithm.
  std::vector<Event> events_;
};

}  // namespace attune::tune
