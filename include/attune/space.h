// What may be chosen for a computation: named parameters, constraints between them, and a default.
//
//   attune::Space space;
//   const attune::Param rows = space.power_of_two("rows", 1, 16), lanes = space.power_of_two("lanes", 4, 16);
//   space.require(rows * lanes <= 64, "a tile fits the registers");
//   space.set_default({{"rows", 1}, {"lanes", 8}});
#pragma once

#include <attune/export.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attune {
inline namespace v1 {

/// The value of a parameter: a number, true or false, or a text.
struct ATTUNE_API ConfigValue {
  std::string text;

  template <std::integral Number> ConfigValue(Number number)  // NOLINT(google-explicit-constructor)
      : text(std::to_string(static_cast<int64_t>(number))) {}
  ConfigValue(const char* words) : text(words) {}             // NOLINT(google-explicit-constructor)
  ConfigValue(std::string words) : text(std::move(words)) {}  // NOLINT(google-explicit-constructor)
};

/// One point of a space: a value for each parameter, by name. What names are missing for is not there to choose.
class ATTUNE_API Config {
 public:
  Config();
  Config(std::initializer_list<std::pair<const char*, ConfigValue>> values);
  explicit Config(std::map<std::string, std::string> values);

  // Each throws UserError when there is no such parameter, or when it is of another kind.
  int64_t number(const std::string& name) const;
  bool flag(const std::string& name) const;
  const std::string& text(const std::string& name) const;
  std::vector<std::string> order(const std::string& name) const;  // of a permutation, first to last

  bool has(const std::string& name) const { return values_.count(name) != 0; }
  const std::map<std::string, std::string>& values() const { return values_; }
  std::string to_text() const;  // "lanes=8, rows=1"
  bool operator==(const Config& other) const { return values_ == other.values_; }

 private:
  std::map<std::string, std::string> values_;
};

/// A whole number that follows from parameters: what constraints are made of.
class ATTUNE_API Expr {
 public:
  struct State;

  template <std::integral Number> Expr(Number number)  // NOLINT(google-explicit-constructor)
      : Expr(of_number(static_cast<int64_t>(number))) {}
  explicit Expr(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  static std::shared_ptr<const State> of_number(int64_t number);
  std::shared_ptr<const State> state_;
};

/// A parameter within expressions. In them a boolean is 0 or 1, a text its position among those declared.
class ATTUNE_API Param {
 public:
  struct State;

  explicit Param(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  operator Expr() const;  // NOLINT(google-explicit-constructor)
  /// Where a permutation puts an item: 0 is first.
  Expr position(const std::string& item) const;
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

ATTUNE_API Expr operator+(const Expr& a, const Expr& b);
ATTUNE_API Expr operator-(const Expr& a, const Expr& b);
ATTUNE_API Expr operator*(const Expr& a, const Expr& b);
ATTUNE_API Expr operator/(const Expr& a, const Expr& b);
ATTUNE_API Expr operator%(const Expr& a, const Expr& b);
ATTUNE_API Expr operator==(const Expr& a, const Expr& b);
ATTUNE_API Expr operator!=(const Expr& a, const Expr& b);
ATTUNE_API Expr operator<(const Expr& a, const Expr& b);
ATTUNE_API Expr operator<=(const Expr& a, const Expr& b);
ATTUNE_API Expr operator>(const Expr& a, const Expr& b);
ATTUNE_API Expr operator>=(const Expr& a, const Expr& b);
ATTUNE_API Expr operator&&(const Expr& a, const Expr& b);
ATTUNE_API Expr operator||(const Expr& a, const Expr& b);
ATTUNE_API Expr operator!(const Expr& a);
ATTUNE_API Expr min(const Expr& a, const Expr& b);
ATTUNE_API Expr max(const Expr& a, const Expr& b);
ATTUNE_API Expr ceil_div(const Expr& a, const Expr& b);
/// layout == "packed". Throws UserError when the parameter has no such value.
ATTUNE_API Expr has_text(const Param& parameter, std::string_view text);
template <std::convertible_to<std::string_view> Text> Expr operator==(const Param& parameter, const Text& text) {
  return has_text(parameter, text);
}
template <std::convertible_to<std::string_view> Text> Expr operator!=(const Param& parameter, const Text& text) {
  return !has_text(parameter, text);
}

/// Declared first, asked afterwards: the first question ends the declaration. Not thread-safe.
class ATTUNE_API Space {
 public:
  Space();
  ~Space();
  Space(Space&&) noexcept;
  Space& operator=(Space&&) noexcept;

  // Names are unique; UserError otherwise.
  Param ordinal(const std::string& name, const std::vector<int64_t>& values);
  Param power_of_two(const std::string& name, int64_t low, int64_t high);
  Param boolean(const std::string& name);
  Param categorical(const std::string& name, const std::vector<std::string>& values);
  Param permutation(const std::string& name, const std::vector<std::string>& items);  // every order of them
  /// Where the condition does not hold, the parameter is not part of a configuration.
  void only_if(const Param& parameter, const Expr& condition);
  /// `why` is for people: an empty space is explained with it.
  void require(const Expr& constraint, const std::string& why = "");
  /// For what an expression cannot say: gets the numbers of these parameters, in this order.
  void require(const std::vector<Param>& parameters, const std::function<bool(const std::vector<int64_t>&)>& allowed,
               const std::string& why);
  /// What serves where nobody has measured. Every space has one.
  void set_default(const Config& config);

  // Throw UserError for a space without a valid default.
  uint64_t size() const;            // valid points
  Config at(uint64_t index) const;  // below size()
  Config default_config() const;
  bool contains(const Config& config) const;
  std::string why_invalid(const Config& config) const;  // the constraints that it violates; empty: it is valid
  std::string why_empty() const;                        // constraints that leave nothing; empty: there is something
  std::string explain() const;                          // how many points each constraint takes away

 private:
  friend struct SpaceAccess;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace v1
}  // namespace attune
