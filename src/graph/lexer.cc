#include "graph/lexer.h"

#include "base/error.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace attune {
namespace {

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '+';
}

}  // namespace

void GraphLexer::fail(const std::string& message) const {
  const std::string_view before = text_.substr(0, at_);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  throw UserError("line {}, column {}: {}", line, at_ - line_start + 1, message);
}

void GraphLexer::skip_blanks() {
  while (at_ < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(text_[at_])))
      ++at_;
    else if (text_[at_] == '#')
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    else
      return;
  }
}

bool GraphLexer::at_end() {
  skip_blanks();
  return at_ >= text_.size();
}

bool GraphLexer::peek(std::string_view symbol) {
  skip_blanks();
  return text_.substr(at_).starts_with(symbol);
}

bool GraphLexer::take(std::string_view symbol) {
  if (!peek(symbol)) return false;
  at_ += symbol.size();
  return true;
}

void GraphLexer::expect(std::string_view symbol) {
  if (!take(symbol)) fail("expected '" + std::string(symbol) + "'");
}

bool GraphLexer::take_word(std::string_view wanted) {
  if (!peek(wanted)) return false;
  const size_t end = at_ + wanted.size();
  if (end < text_.size() && is_word_character(text_[end])) return false;
  at_ = end;
  return true;
}

std::string GraphLexer::word() {
  skip_blanks();
  const size_t begin = at_;
  while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
  if (begin == at_) fail("expected a word");
  return std::string(text_.substr(begin, at_ - begin));
}

std::string GraphLexer::string() {
  expect("\"");
  std::string out;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] != '\\') {
      out += text_[at_++];
      continue;
    }
    if (text_.substr(at_).starts_with("\\x") && at_ + 4 <= text_.size()) {
      unsigned byte = 0;
      const char* digits = text_.data() + at_ + 2;
      if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) fail("\\x wants two hexadecimal digits");
      out += static_cast<char>(byte);
      at_ += 4;
    } else if (at_ + 2 <= text_.size()) {
      out += text_[at_ + 1];
      at_ += 2;
    } else {
      fail("the string ends in a backslash");
    }
  }
  if (at_ >= text_.size()) fail("the string does not end");
  ++at_;
  return out;
}

std::string GraphLexer::name() {
  expect("%");
  if (peek("\"")) return string();
  const size_t begin = at_;
  while (at_ < text_.size() && (is_word_character(text_[at_]) || text_[at_] == '/' || text_[at_] == ':')) ++at_;
  if (begin == at_) fail("expected a name after '%'");
  return std::string(text_.substr(begin, at_ - begin));
}

std::string GraphLexer::until(std::string_view stops) {
  skip_blanks();
  const size_t begin = at_;
  int depth = 0;  // stops inside parentheses belong to the text
  while (at_ < text_.size() && (depth > 0 || stops.find(text_[at_]) == std::string_view::npos)) {
    if (text_[at_] == '(') ++depth;
    if (text_[at_] == ')') --depth;
    ++at_;
  }
  return std::string(text_.substr(begin, at_ - begin));
}

}  // namespace attune
