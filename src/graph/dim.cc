#include "graph/dim.h"

#include "base/checked.h"
#include "base/error.h"

#include <algorithm>

namespace attune {
namespace {

// Beyond this a dimension says nothing useful and its arithmetic gets slow: it becomes unknown.
constexpr size_t kMostTerms = 16;
constexpr size_t kMostFactors = 8;

std::string parenthesized(const Dim& dim) {
  const std::string text = dim.text();
  return text.find_first_of("+-") == std::string::npos ? text : "(" + text + ")";
}

}  // namespace

Dim Dim::symbol(const std::string& name) { return from_terms({{{name}, 1}}); }

int64_t Dim::value() const {
  if (!known_) throw InternalError("dim '{}' is not a number", text());
  return value_;
}

Dim Dim::from_terms(Terms terms) {
  std::erase_if(terms, [](const auto& term) { return term.second == 0; });
  if (terms.empty()) return Dim(0);
  if (terms.size() == 1 && terms.begin()->first.empty()) return Dim(terms.begin()->second);
  if (terms.size() > kMostTerms) return unknown();
  for (const auto& [factors, coefficient] : terms)
    if (factors.size() > kMostFactors) return unknown();
  Dim result;
  result.terms_ = std::make_shared<const Terms>(std::move(terms));
  return result;
}

Dim::Terms Dim::terms() const {
  if (terms_) return *terms_;
  return {{{}, value_}};
}

std::string Dim::text() const {
  if (known_) return std::to_string(value_);
  if (!terms_) return "?";
  std::string out;
  // Symbols before the constant reads naturally: "2*N+1".
  auto append = [&out](const std::vector<std::string>& factors, int64_t coefficient) {
    if (coefficient >= 0 && !out.empty()) out += '+';
    if (factors.empty()) {
      out += std::to_string(coefficient);
      return;
    }
    if (coefficient == -1)
      out += '-';
    else if (coefficient != 1)
      out += std::to_string(coefficient) + "*";
    for (size_t i = 0; i < factors.size(); ++i) out += (i ? "*" : "") + factors[i];
  };
  for (const auto& [factors, coefficient] : *terms_)
    if (!factors.empty()) append(factors, coefficient);
  if (const auto constant = terms_->find({}); constant != terms_->end()) append({}, constant->second);
  return out;
}

bool Dim::never_negative() const {
  if (known_) return value_ >= 0;
  return terms_ && std::all_of(terms_->begin(), terms_->end(), [](const auto& term) { return term.second >= 0; });
}

bool Dim::operator==(const Dim& other) const {
  if (known_ || other.known_) return known_ && other.known_ && value_ == other.value_;
  if (!terms_ || !other.terms_) return false;
  return terms_ == other.terms_ || *terms_ == *other.terms_;
}

Dim Dim::operator+(const Dim& other) const {
  if (is_unknown() || other.is_unknown()) return unknown();
  Terms sum = terms();
  for (const auto& [factors, coefficient] : other.terms()) {
    const auto added = checked_add(sum[factors], coefficient);
    if (!added) return unknown();
    sum[factors] = *added;
  }
  return from_terms(std::move(sum));
}

Dim Dim::operator-(const Dim& other) const { return *this + other * Dim(-1); }

Dim Dim::operator*(const Dim& other) const {
  if ((known_ && value_ == 0) || (other.known_ && other.value_ == 0)) return Dim(0);
  if (is_unknown() || other.is_unknown()) return unknown();
  Terms product;
  for (const auto& [left, a] : terms()) {
    for (const auto& [right, b] : other.terms()) {
      std::vector<std::string> factors = left;
      factors.insert(factors.end(), right.begin(), right.end());
      std::sort(factors.begin(), factors.end());
      const auto multiplied = checked_mul(a, b);
      const auto added = multiplied ? checked_add(product[factors], *multiplied) : std::nullopt;
      if (!added) return unknown();
      product[factors] = *added;
    }
  }
  return from_terms(std::move(product));
}

Dim Dim::floor_div(const Dim& other) const {
  if (is_unknown() || other.is_unknown()) return unknown();
  if (other.known_ && other.value_ == 0) return unknown();
  if (known_ && other.known_) {
    if (value_ == INT64_MIN && other.value_ == -1) return unknown();
    const int64_t quotient = value_ / other.value_;
    const bool inexact = value_ % other.value_ != 0;
    return Dim(inexact && ((value_ < 0) != (other.value_ < 0)) ? quotient - 1 : quotient);
  }
  if (*this == other) return Dim(1);
  // Exact division of every term by a single-term divisor.
  const Terms divisor = other.terms();
  if (divisor.size() == 1) {
    const auto& [factors, coefficient] = *divisor.begin();
    Terms quotient;
    bool exact = true;
    for (const auto& [own, own_coefficient] : terms()) {
      std::vector<std::string> rest;
      std::set_difference(own.begin(), own.end(), factors.begin(), factors.end(), std::back_inserter(rest));
      if (rest.size() + factors.size() != own.size() || own_coefficient % coefficient != 0) {
        exact = false;
        break;
      }
      quotient[rest] = own_coefficient / coefficient;
    }
    if (exact) return from_terms(std::move(quotient));
  }
  return symbol("floor(" + parenthesized(*this) + "/" + parenthesized(other) + ")");
}

Dim Dim::ceil_div(const Dim& other) const { return Dim(0) - (Dim(0) - *this).floor_div(other); }

}  // namespace attune
