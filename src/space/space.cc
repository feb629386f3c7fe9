#include "space/space.h"

#include "base/error.h"
#include "base/hash.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace attune {

size_t Space::PointHash::operator()(const Point& point) const { return hash_bytes(std::as_bytes(std::span(point))); }

std::string Space::Constraint::text() const {
  const std::string& expression_text = expression.node().text;
  return why.empty() ? fmt::format("'{}'", expression_text) : fmt::format("'{}' ({})", expression_text, why);
}

void Space::require_declaring() const {
  if (is_built_) throw InternalError("a space is declared before it is built");
}

void Space::require_built() const {
  if (!is_built_) throw InternalError("a space is built before it is used");
}

Param Space::add(Parameter parameter) {
  require_declaring();
  for (const auto& other : parameters_)
    if (other->name == parameter.name)
      throw UserError("parameter '{}' is declared twice; give each its own name", parameter.name);
  const int index = static_cast<int>(parameters_.size());
  parameters_.push_back(std::make_shared<const Parameter>(std::move(parameter)));
  conditional_.push_back(false);
  return {index, parameters_.back()};
}

Param Space::ordinal(std::string name, std::vector<int64_t> values) {
  return add(make_ordinal(std::move(name), std::move(values)));
}
Param Space::power_of_two(std::string name, int64_t low, int64_t high) {
  return add(make_power_of_two(std::move(name), low, high));
}
Param Space::boolean(std::string name) { return add(make_boolean(std::move(name))); }
Param Space::categorical(std::string name, std::vector<std::string> values) {
  return add(make_categorical(std::move(name), std::move(values)));
}
Param Space::permutation(std::string name, std::vector<std::string> items) {
  return add(make_permutation(std::move(name), std::move(items)));
}

void Space::only_if(const Param& parameter, const Expr& condition) {
  require_declaring();
  const auto index = static_cast<size_t>(parameter.index());
  if (conditional_.at(index))
    throw UserError("parameter '{}' has two conditions; join them with &&", parameter.parameter().name);
  conditional_[index] = true;
  constraints_.push_back({presence_follows(parameter, condition), ""});
}

void Space::require(const Expr& constraint, std::string why) {
  require_declaring();
  constraints_.push_back({constraint, std::move(why)});
}

void Space::require(const std::vector<Param>& parameters, ExprFunction allowed, const std::string& why) {
  // The position keeps texts of different functions apart.
  require(call(parameters, std::move(allowed), fmt::format("rule{}", constraints_.size())), why);
}

void Space::set_default(Config config) {
  require_declaring();
  default_ = std::move(config);
  has_default_ = true;
}

Space& Space::build(const BuildLimits& limits) {
  require_declaring();
  if (!has_default_) throw UserError("a space needs a default configuration; give it with set_default");
  limits_ = limits;
  graphs_ = build_graphs(std::vector<bool>(constraints_.size(), true), limits);
  size_ = 1;
  for (const PointGraph& graph : graphs_)
    if (__builtin_mul_overflow(size_, graph.size(), &size_) || size_ > uint64_t{1} << 62)
      throw UserError("the space has about {:.1e} points, more than can be counted; give fewer values", raw_size());
  is_built_ = true;
  if (size_ > 0)
    if (const std::string problem = why_invalid(default_); !problem.empty())
      throw UserError("the default configuration {{{}}} is not valid: {}", to_text(default_), problem);
  return *this;
}

uint64_t Space::size() const {
  require_built();
  return size_;
}

double Space::raw_size() const {
  double size = 1;
  for (const auto& parameter : parameters_) size *= static_cast<double>(parameter->texts.size());
  return size;
}

size_t Space::bytes() const {
  size_t bytes = list_.size() * parameters_.size() * sizeof(ValueIndex) * 2;
  for (const PointGraph& graph : graphs_) bytes += graph.bytes();
  return bytes;
}

uint64_t Space::default_index() const {
  const auto index = index_of(default_);
  if (!index) throw UserError("an empty space has no default; {}", why_empty());
  return *index;
}

Point Space::point_at(uint64_t index) const {
  require_built();
  if (index >= size_) throw InternalError("point {} of {}", index, size_);
  if (!list_.empty()) return list_[index];
  Point point(parameters_.size());
  for (size_t i = graphs_.size(); i-- > 0;) {
    graphs_[i].write_point(index % graphs_[i].size(), point);
    index /= graphs_[i].size();
  }
  return point;
}

Config Space::config_of(const Point& point) const {
  Config config;
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (point[i] != kAbsent) config.emplace(parameters_[i]->name, parameters_[i]->texts.at(point[i]));
  return config;
}

Config Space::at(uint64_t index) const { return config_of(point_at(index)); }

std::optional<uint64_t> Space::index_of(const Point& point) const {
  require_built();
  if (point.size() != parameters_.size()) return std::nullopt;
  if (!list_.empty()) {
    const auto found = list_index_.find(point);
    return found == list_index_.end() ? std::nullopt : std::optional(found->second);
  }
  uint64_t index = 0;
  for (const PointGraph& graph : graphs_) {
    const auto part = graph.find(point);
    if (!part) return std::nullopt;
    index = index * graph.size() + *part;
  }
  return index;
}

std::optional<Point> Space::point_of(const Config& config) const {
  Point point(parameters_.size(), kAbsent);
  size_t found = 0;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto entry = config.find(parameters_[i]->name);
    if (entry == config.end()) continue;
    const auto choice = parameters_[i]->find(entry->second);
    if (!choice) return std::nullopt;
    point[i] = *choice;
    ++found;
  }
  return found == config.size() ? std::optional(point) : std::nullopt;
}

std::optional<uint64_t> Space::index_of(const Config& config) const {
  const auto point = point_of(config);
  return point ? index_of(*point) : std::nullopt;
}

uint64_t Space::sample(Random& random) const {
  if (size() == 0) throw InternalError("a sample of an empty space");
  return static_cast<uint64_t>(random.below(static_cast<int64_t>(size_)));
}

}  // namespace attune
