// Writes the text of a kernel line by line, indented by its braces.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace attune::cube {

class Text {
 public:
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    put(fmt::format(format, std::forward<Args>(args)...));
  }
  /// A line that ends in an opening brace; what follows is indented until close().
  template <class... Args> void open(fmt::format_string<Args...> format, Args&&... args) {
    put(fmt::format(format, std::forward<Args>(args)...) + " {");
    ++depth_;
  }
  void close(std::string_view after = "") {
    --depth_;
    put("}" + std::string(after));
  }
  void blank() { out_ += '\n'; }
  /// Text that was written elsewhere, as it is.
  void paste(const std::string& text) { out_ += text; }
  std::string take() { return std::move(out_); }

 private:
  void put(const std::string& text) { out_ += std::string(static_cast<size_t>(depth_) * 2, ' ') + text + '\n'; }

  std::string out_;
  int depth_ = 0;
};

}  // namespace attune::cube
