// Tokens of the graph text form, with positions for messages.
#pragma once

#include <string>
#include <string_view>

namespace attune {

class GraphLexer {
 public:
  explicit GraphLexer(std::string_view text) : text_(text) {}

  /// Throws UserError "line L, column C: …".
  [[noreturn]] void fail(const std::string& message) const;

  bool at_end();
  bool peek(std::string_view symbol);  // the text starts with it here
  bool take(std::string_view symbol);  // and steps over it
  void expect(std::string_view symbol);
  bool take_word(std::string_view wanted);    // a whole word, not a prefix of one
  std::string word();                         // [A-Za-z0-9_.+-]+
  std::string string();                       // "…" with \" \\ and \xNN
  std::string name();                         // %plain or %"quoted"
  std::string until(std::string_view stops);  // raw text up to one of the characters

 private:
  void skip_blanks();
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace attune
