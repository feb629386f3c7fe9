#include "tune/search/searcher.h"

#include "base/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace attune::tune {

using nlohmann::json;

Searcher::Searcher(const Space& space, SearchOptions options)
    : space_(space), options_(std::move(options)), random_(options_.seed), history_(space) {
  if (space.size() == 0) throw UserError("there is nothing to search: {}", space.why_empty());
}

std::vector<uint64_t> Searcher::ask(int count) {
  std::vector<uint64_t> asked;
  while (static_cast<int>(asked.size()) < count && !history_.is_exhausted()) {
    const auto proposed = propose(count - static_cast<int>(asked.size()));
    if (proposed.empty()) break;
    const size_t before = asked.size();
    for (const uint64_t index : proposed)
      if (history_.mark(index)) asked.push_back(index);
    // An algorithm that knows nothing new is helped along, so that asking always ends.
    if (asked.size() == before) {
      asked.push_back(history_.random_unseen(random_).value());
      history_.mark(asked.back());
    }
  }
  events_.push_back({Event::Kind::ask, count, asked, {}});
  return asked;
}

void Searcher::tell(const Observation& observation) {
  if (observation.point >= space_.size())
    throw InternalError("told of point {} of {}", observation.point, space_.size());
  history_.add(observation);
  learn(observation);
  events_.push_back({Event::Kind::tell, 0, {}, observation});
}

void Searcher::skip(uint64_t index) {
  if (!history_.mark(index)) return;
  events_.push_back({Event::Kind::skip, 0, {index}, {}});
}

std::vector<double> Searcher::promise(const std::vector<uint64_t>& candidates) {
  return std::vector<double>(candidates.size(), 0.0);
}

std::string Searcher::save() const {
  json events = json::array();
  for (const Event& event : events_) {
    if (event.kind == Event::Kind::ask) {
      events.push_back({{"ask", event.count}, {"points", event.asked}});
    } else if (event.kind == Event::Kind::skip) {
      events.push_back({{"skip", event.asked.front()}});
    } else {
      json told{{"tell", event.observation.point}, {"outcome", outcome_name(event.observation.outcome)}};
      if (event.observation.outcome == Outcome::ok) told["cost"] = event.observation.cost;
      events.push_back(std::move(told));
    }
  }
  return json{{"searcher", name()}, {"points", space_.size()}, {"seed", options_.seed}, {"events", events}}.dump();
}

void Searcher::restore(const std::string& text) {
  if (!events_.empty()) throw InternalError("a searcher is restored before it is used");
  try {
    const json state = json::parse(text);
    if (state.at("searcher") != name() || state.at("points") != space_.size() || state.at("seed") != options_.seed)
      throw UserError("the saved search is of '{}' over {} points with seed {}, not of '{}' over {} with {}",
                      state.at("searcher").get<std::string>(), state.at("points").get<uint64_t>(),
                      state.at("seed").get<uint64_t>(), name(), space_.size(), options_.seed);
    for (const json& event : state.at("events")) {
      if (event.contains("ask")) {
        if (ask(event.at("ask").get<int>()) != event.at("points").get<std::vector<uint64_t>>())
          throw UserError("the saved search of '{}' was made by another version of attune; start a new one", name());
      } else if (event.contains("skip")) {
        skip(event.at("skip").get<uint64_t>());
      } else {
        const auto outcome = outcome_of_name(event.at("outcome").get<std::string>());
        if (!outcome) throw UserError("the saved search has the unknown outcome {}", event.at("outcome").dump());
        tell({event.at("tell").get<uint64_t>(), *outcome, event.value("cost", 0.0)});
      }
    }
  } catch (const json::exception& error) {
    throw UserError("the saved search cannot be read: {}; start a new one", error.what());
  }
}

}  // namespace attune::tune
