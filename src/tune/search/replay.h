// A table of measured configurations in place of a device: searches are tested and scored on it.
//
// Comma-separated text, gzipped or not: lines that begin with # are comments, the first other line names the parameters
// and, last, the unit of time; each further line holds one configuration and its time, or the name of an outcome where
// it failed. An empty value is a parameter that the configuration does not have.
#pragma once

#include "tune/search/history.h"

namespace attune::tune {

class ReplayTable {
 public:
  /// Throws UserError with file and line of what cannot be read.
  static ReplayTable read(const std::string& path);
  static ReplayTable parse(const std::string& text, const std::string& where);

  const Space& space() const { return space_; }  // the list of the configurations, the first its default
  Observation measure(uint64_t point) const;
  double best() const { return best_; }
  /// Every time of the table, ascending, without failures.
  const std::vector<double>& sorted_times() const { return sorted_; }

 private:
  Space space_;
  std::vector<Observation> results_;
  std::vector<double> sorted_;
  double best_ = 0;
};

}  // namespace attune::tune
