// One dimension of a shape: a number, or an integer polynomial over named symbols ("N", "2*N", "floor((H-1)/2)+1"), or
// unknown. Arithmetic keeps what is known, so that shape arithmetic of exported models folds with symbolic batch sizes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

class Dim {
 public:
  Dim() = default;                                     // unknown
  Dim(int64_t value) : value_(value), known_(true) {}  // NOLINT: a number is a dim
  static Dim symbol(const std::string& name);
  static Dim unknown() { return {}; }
  /// What text() prints: "16", "N", "2*N+1", "floor((N+1)/2)", "?"; blanks are ignored. Nothing when it is not of that
  /// form.
  static std::optional<Dim> parse(std::string_view text);

  bool is_known() const { return known_; }  // a number
  bool is_unknown() const { return !known_ && !terms_; }
  bool is_symbolic() const { return terms_ != nullptr; }
  int64_t value() const;     // throws InternalError unless known
  std::string text() const;  // "16", "N", "2*N+1", "?"

  /// Provably at least 0, given that every symbol is a size and so is not negative. False when nothing is known.
  bool never_negative() const;

  /// Provably equal. An unknown dim equals nothing, itself included.
  bool operator==(const Dim& other) const;

  Dim operator+(const Dim& other) const;
  Dim operator-(const Dim& other) const;
  Dim operator*(const Dim& other) const;
  /// Exact where the polynomial divides, else an opaque "floor(a/b)" symbol; unknown when either is unknown or b is 0.
  Dim floor_div(const Dim& other) const;
  Dim ceil_div(const Dim& other) const;

  using Terms = std::map<std::vector<std::string>, int64_t>;  // sorted factors → coefficient

 private:
  static Dim from_terms(Terms terms);
  Terms terms() const;

  int64_t value_ = 0;
  bool known_ = false;
  std::shared_ptr<const Terms> terms_;  // shared: dims are copied far more often than made
};

}  // namespace attune
