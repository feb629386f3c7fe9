// Parses the text form of a dim: sums of products of numbers, symbols and floor(…) terms.
#include "graph/dim.h"

#include <cctype>
#include <charconv>

namespace attune {
namespace {

constexpr int kMostNesting = 16;

class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}

  std::optional<Dim> run() {
    const auto dim = sum(0);
    return dim && at_ == text_.size() ? dim : std::nullopt;
  }

 private:
  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  std::optional<Dim> sum(int depth) {
    if (depth > kMostNesting) return std::nullopt;
    const bool negative = take('-');
    auto total = product(depth);
    if (total && negative) total = Dim(0) - *total;
    while (total) {
      const bool plus = take('+');
      if (!plus && !take('-')) return total;
      const auto next = product(depth);
      if (!next) return std::nullopt;
      total = plus ? *total + *next : *total - *next;
    }
    return std::nullopt;
  }

  std::optional<Dim> product(int depth) {
    auto total = factor(depth);
    while (total && take('*')) {
      const auto next = factor(depth);
      if (!next) return std::nullopt;
      total = *total * *next;
    }
    return total;
  }

  std::optional<Dim> factor(int depth) {
    if (take('(')) {
      const auto inner = sum(depth + 1);
      return inner && take(')') ? inner : std::nullopt;
    }
    if (text_.substr(at_).starts_with("floor(")) {
      at_ += 6;
      const auto numerator = factor(depth + 1);
      if (!numerator || !take('/')) return std::nullopt;
      const auto denominator = factor(depth + 1);
      if (!denominator || !take(')')) return std::nullopt;
      return numerator->floor_div(*denominator);
    }
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return std::nullopt;
    if (!std::isdigit(static_cast<unsigned char>(word.front()))) return Dim::symbol(std::string(word));
    int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return Dim(number);
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<Dim> Dim::parse(std::string_view text) {
  std::string dense;
  for (const char c : text)
    if (c != ' ') dense += c;
  if (dense == "?") return unknown();
  return DimParser(dense).run();
}

}  // namespace attune
