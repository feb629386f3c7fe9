#include "api/guarded.h"
#include "api/space_access.h"

namespace attune {
inline namespace v1 {
namespace {

Expr wrap(inner::Expr expr) { return Expr(std::make_shared<const Expr::State>(Expr::State{std::move(expr)})); }
Param wrap(inner::Param param) { return Param(std::make_shared<const Param::State>(Param::State{std::move(param)})); }
const inner::Expr& of(const Expr& expr) { return expr.state().expr; }

}  // namespace

std::shared_ptr<const Expr::State> Expr::of_number(int64_t number) {
  return std::make_shared<const State>(State{inner::Expr(number)});
}

Param::operator Expr() const { return wrap(inner::Expr(state_->param)); }
Expr Param::position(const std::string& item) const {
  return guarded([&] { return wrap(state_->param.position(item)); });
}

Expr operator+(const Expr& a, const Expr& b) { return wrap(of(a) + of(b)); }
Expr operator-(const Expr& a, const Expr& b) { return wrap(of(a) - of(b)); }
Expr operator*(const Expr& a, const Expr& b) { return wrap(of(a) * of(b)); }
Expr operator/(const Expr& a, const Expr& b) { return wrap(of(a) / of(b)); }
Expr operator%(const Expr& a, const Expr& b) { return wrap(of(a) % of(b)); }
Expr operator==(const Expr& a, const Expr& b) { return wrap(of(a) == of(b)); }
Expr operator!=(const Expr& a, const Expr& b) { return wrap(of(a) != of(b)); }
Expr operator<(const Expr& a, const Expr& b) { return wrap(of(a) < of(b)); }
Expr operator<=(const Expr& a, const Expr& b) { return wrap(of(a) <= of(b)); }
Expr operator>(const Expr& a, const Expr& b) { return wrap(of(a) > of(b)); }
Expr operator>=(const Expr& a, const Expr& b) { return wrap(of(a) >= of(b)); }
Expr operator&&(const Expr& a, const Expr& b) { return wrap(of(a) && of(b)); }
Expr operator||(const Expr& a, const Expr& b) { return wrap(of(a) || of(b)); }
Expr operator!(const Expr& a) { return wrap(!of(a)); }
Expr min(const Expr& a, const Expr& b) { return wrap(attune::min(of(a), of(b))); }
Expr max(const Expr& a, const Expr& b) { return wrap(attune::max(of(a), of(b))); }
Expr ceil_div(const Expr& a, const Expr& b) { return wrap(attune::ceil_div(of(a), of(b))); }
Expr has_text(const Param& parameter, std::string_view text) {
  return guarded([&] { return wrap(attune::has_text(parameter.state().param, text)); });
}

namespace {

/// Declared so far, or built: every function of the interface goes through one of these.
template <class State, class Body> auto declare(State& state, const Body& body) {
  if (state.is_built) throw UserError("the space was asked already and cannot be declared further");
  return guarded([&] { return body(state.space); });
}
template <class State, class Body> auto ask(State& state, const Body& body) {
  return guarded([&] {
    if (!state.is_built) state.space.build();
    state.is_built = true;
    return body(state.space);
  });
}

}  // namespace

Space::Space() : state_(std::make_unique<State>()) {}
Space::~Space() = default;
Space::Space(Space&&) noexcept = default;
Space& Space::operator=(Space&&) noexcept = default;

Param Space::ordinal(const std::string& name, const std::vector<int64_t>& values) {
  return declare(*state_, [&](inner::Space& space) { return wrap(space.ordinal(name, values)); });
}
Param Space::power_of_two(const std::string& name, int64_t low, int64_t high) {
  return declare(*state_, [&](inner::Space& space) { return wrap(space.power_of_two(name, low, high)); });
}
Param Space::boolean(const std::string& name) {
  return declare(*state_, [&](inner::Space& space) { return wrap(space.boolean(name)); });
}
Param Space::categorical(const std::string& name, const std::vector<std::string>& values) {
  return declare(*state_, [&](inner::Space& space) { return wrap(space.categorical(name, values)); });
}
Param Space::permutation(const std::string& name, const std::vector<std::string>& items) {
  return declare(*state_, [&](inner::Space& space) { return wrap(space.permutation(name, items)); });
}
void Space::only_if(const Param& parameter, const Expr& condition) {
  declare(*state_, [&](inner::Space& space) { space.only_if(parameter.state().param, of(condition)); });
}
void Space::require(const Expr& constraint, const std::string& why) {
  declare(*state_, [&](inner::Space& space) { space.require(of(constraint), why); });
}
void Space::require(const std::vector<Param>& parameters,
                    const std::function<bool(const std::vector<int64_t>&)>& allowed, const std::string& why) {
  declare(*state_, [&](inner::Space& space) {
    std::vector<inner::Param> params;
    for (const Param& parameter : parameters) params.push_back(parameter.state().param);
    const auto function = [allowed](std::span<const int64_t> numbers) {
      return allowed(std::vector<int64_t>(numbers.begin(), numbers.end()));
    };
    space.require(params, function, why);
  });
}
void Space::set_default(const Config& config) {
  declare(*state_, [&](inner::Space& space) { space.set_default(config.values()); });
}

uint64_t Space::size() const {
  return ask(*state_, [](const inner::Space& space) { return space.size(); });
}
Config Space::at(uint64_t index) const {
  return ask(*state_, [&](const inner::Space& space) {
    if (index >= space.size()) throw UserError(fmt::format("point {} of a space of {}", index, space.size()));
    return Config(space.at(index));
  });
}
Config Space::default_config() const {
  return ask(*state_, [](const inner::Space& space) { return Config(space.default_config()); });
}
bool Space::contains(const Config& config) const {
  return ask(*state_, [&](const inner::Space& space) { return space.index_of(config.values()).has_value(); });
}
std::string Space::why_invalid(const Config& config) const {
  return ask(*state_, [&](const inner::Space& space) { return space.why_invalid(config.values()); });
}
std::string Space::why_empty() const {
  return ask(*state_, [](const inner::Space& space) { return space.why_empty(); });
}
std::string Space::explain() const {
  return ask(*state_, [](const inner::Space& space) { return space.explain(); });
}

inner::Space SpaceAccess::take(Space space) {
  return ask(*space.state_, [](inner::Space& built) { return std::move(built); });
}

}  // namespace v1
}  // namespace attune
