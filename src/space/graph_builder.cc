// Builds a PointGraph depth first. Two tables keep it small: states that were explored already, and nodes that are
// equal though their states differ.
#include "base/error.h"
#include "space/point_graph.h"

#include <limits>
#include <numeric>

namespace attune {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr uint64_t kMaxPoints = uint64_t{1} << 62;  // indices stay signed 64-bit numbers, with room for sums
// States remembered in all: beyond it, states that seldom come again are explored again rather than remembered.
constexpr size_t kMaxRememberedStates = size_t{1} << 21;

/// 128 bits of a hash stand for the key: among 10^8 keys a collision has a chance of about 10^-23.
struct Fingerprint {
  uint64_t high = 0x243f6a8885a308d3u, low = 0x13198a2e03707344u;

  void add(uint64_t value) {
    high = (high ^ value) * 0x9fb21c651e98df25u;
    high ^= high >> 32;
    low = (low + value) * 0xd6e8feb86659fd93u;
    low ^= low >> 29;
  }
  bool operator==(const Fingerprint&) const = default;
};

/// Fingerprint → node, by open addressing.
class NodeTable {
 public:
  size_t size() const { return used_; }

  /// The node of the key, nothing when it is not there. kNone is a node like others.
  const uint32_t* find(const Fingerprint& key) const {
    if (entries_.empty()) return nullptr;
    for (size_t i = key.low & mask();; i = (i + 1) & mask()) {
      if (!entries_[i].used) return nullptr;
      if (entries_[i].key == key) return &entries_[i].node;
    }
  }

  void insert(const Fingerprint& key, uint32_t node) {
    if (used_ * 10 >= entries_.size() * 7) grow();
    place({key, node, 1});
    ++used_;
  }

 private:
  struct Entry {
    Fingerprint key;
    uint32_t node = 0, used = 0;
  };

  size_t mask() const { return entries_.size() - 1; }

  void place(const Entry& entry) {
    size_t i = entry.key.low & mask();
    while (entries_[i].used) i = (i + 1) & mask();
    entries_[i] = entry;
  }

  void grow() {
    std::vector<Entry> old(std::max<size_t>(64, entries_.size() * 2));
    old.swap(entries_);
    for (const Entry& entry : old)
      if (entry.used) place(entry);
  }

  std::vector<Entry> entries_;
  size_t used_ = 0;
};

}  // namespace

class GraphBuilder {
 public:
  GraphBuilder(const std::vector<Transition>& transitions, const BuildLimits& limits, const std::string& what)
      : transitions_(transitions), limits_(limits), what_(what), levels_(transitions.size() + 1) {
    for (size_t i = 0; i < transitions.size(); ++i) {
      graph_.order_.push_back(transitions[i].parameter);
      levels_[i + 1].state.resize(transitions[i].next_state.size());
    }
  }

  PointGraph build() {
    const uint32_t root = explore(0);
    if (root != kNone) {
      graph_.root_ = root;
      graph_.size_ = counts_[root];
    }
    graph_.nodes_.shrink_to_fit();
    graph_.leaf_values_.shrink_to_fit();
    return std::move(graph_);
  }

 private:
  struct Level {
    std::vector<int64_t> state;  // before the level's parameter is chosen
    NodeTable explored;
    uint64_t hits = 0;
    std::vector<int> choices;        // that are valid in this state
    std::vector<int64_t> next;       // the next level's state for each of them, value after value
    std::vector<ValueIndex> values;  // edges of the node that is being made
    std::vector<uint32_t> children;
  };

  uint32_t explore(size_t at) {
    Level& level = levels_[at];
    // What cannot come again need not be remembered.
    if (transitions_[at].is_state_unique) return make_node(at);
    Fingerprint key;
    for (const int64_t value : level.state) key.add(static_cast<uint64_t>(value));
    if (const uint32_t* known = level.explored.find(key)) {
      ++level.hits;
      return *known;
    }
    const uint32_t node = make_node(at);
    const bool pays = level.hits >= level.explored.size();
    if (remembered_ < kMaxRememberedStates || (pays && remembered_ < 4 * kMaxRememberedStates)) {
      level.explored.insert(key, node);
      ++remembered_;
    }
    return node;
  }

  uint32_t make_node(size_t at) {
    collect_edges(at);
    return levels_[at].values.empty() ? kNone : intern(at);
  }

  /// The choices that pass all checks, and the state that each leads to.
  void choose_valid(size_t at) {
    Level& level = levels_[at];
    const Transition& transition = transitions_[at];
    level.choices.resize(static_cast<size_t>(transition.choices));
    std::iota(level.choices.begin(), level.choices.end(), 0);
    for (const ExprProgram& check : transition.checks) {
      checked_.resize(level.choices.size());
      runner_.run(check, level.state, level.choices, checked_.data());
      size_t kept = 0;
      for (size_t k = 0; k < level.choices.size(); ++k)
        if (holds(checked_[k])) level.choices[kept++] = level.choices[k];
      level.choices.resize(kept);
    }
    const size_t width = level.choices.size();
    level.next.resize(transition.next_state.size() * width);
    for (size_t i = 0; i < transition.next_state.size(); ++i)
      runner_.run(transition.next_state[i], level.state, level.choices, level.next.data() + i * width);
  }

  void collect_edges(size_t at) {
    Level& level = levels_[at];
    const Transition& transition = transitions_[at];
    level.values.clear();
    level.children.clear();
    steps_ += static_cast<uint64_t>(transition.choices);
    check_limits();
    choose_valid(at);
    const bool is_last = at + 1 == transitions_.size();
    const size_t width = level.choices.size();
    for (size_t k = 0; k < width; ++k) {
      if (!is_last) {
        for (size_t i = 0; i < transition.next_state.size(); ++i) levels_[at + 1].state[i] = level.next[i * width + k];
        const uint32_t child = explore(at + 1);
        if (child == kNone) continue;
        level.children.push_back(child);
      }
      const bool is_absence = transition.can_be_absent && level.choices[k] + 1 == transition.choices;
      level.values.push_back(is_absence ? kAbsent : static_cast<ValueIndex>(level.choices[k]));
    }
  }

  /// The node with the edges that were collected: an equal one if there is one.
  uint32_t intern(size_t at) {
    const Level& level = levels_[at];
    Fingerprint key;
    key.add(at);
    for (const ValueIndex value : level.values) key.add(value);
    for (const uint32_t child : level.children) key.add(uint64_t{child} << 16);
    if (const uint32_t* known = nodes_.find(key)) return *known;

    const auto node = static_cast<uint32_t>(graph_.nodes_.size());
    const bool is_last = at + 1 == transitions_.size();
    const auto first = is_last ? graph_.leaf_values_.size() : graph_.values_.size();
    graph_.nodes_.push_back({static_cast<uint32_t>(first), static_cast<uint32_t>(level.values.size())});
    uint64_t count = 0;
    if (is_last) {
      graph_.leaf_values_.insert(graph_.leaf_values_.end(), level.values.begin(), level.values.end());
      count = level.values.size();
    } else {
      graph_.values_.insert(graph_.values_.end(), level.values.begin(), level.values.end());
      graph_.children_.insert(graph_.children_.end(), level.children.begin(), level.children.end());
      for (const uint32_t child : level.children) {
        graph_.points_before_.push_back(count);
        count += counts_[child];
        if (count > kMaxPoints) throw UserError("{}", too_many_points());
      }
    }
    counts_.push_back(count);
    nodes_.insert(key, node);
    return node;
  }

  std::string too_many_points() const {
    return fmt::format(
        "the space of {} has more than 2^62 points, which cannot be counted; give fewer values, or "
        "constraints between them",
        what_);
  }

  void check_limits() const {
    if (steps_ > limits_.max_steps)
      throw UserError(
          "the space of {} is too large to build: {} choices were tried and it is not finished; give fewer values, or "
          "constraints over fewer parameters at a time",
          what_, limits_.max_steps);
    const size_t bytes = graph_.bytes() + counts_.size() * (sizeof(uint64_t) + 2 * sizeof(Fingerprint));
    const size_t edges = std::max(graph_.values_.size(), graph_.leaf_values_.size());
    if (bytes > limits_.max_bytes || edges > std::numeric_limits<uint32_t>::max() / 2)
      throw UserError(
          "the space of {} is too large to build: it takes more than {} MiB; give fewer values, or constraints over "
          "fewer "
          "parameters at a time",
          what_, limits_.max_bytes >> 20);
  }

  const std::vector<Transition>& transitions_;
  const BuildLimits& limits_;
  const std::string& what_;
  std::vector<Level> levels_;
  PointGraph graph_;
  std::vector<uint64_t> counts_;  // points of each node
  NodeTable nodes_;
  ProgramRunner runner_;
  std::vector<int64_t> checked_;
  uint64_t steps_ = 0;
  size_t remembered_ = 0;
};

PointGraph build_point_graph(const std::vector<Transition>& transitions, const BuildLimits& limits,
                             const std::string& what) {
  return GraphBuilder(transitions, limits, what).build();
}

}  // namespace attune
