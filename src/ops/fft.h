// The discrete Fourier transform of any length in O(n log n), in double.
#pragma once

#include <cstdint>
#include <vector>

namespace attune {

/// std::complex without its special cases for infinities, which cost a call for each product.
struct Complex {
  double re = 0;
  double im = 0;
};
inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
inline Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
inline Complex conjugate(Complex a) { return {a.re, -a.im}; }

/// In-place transform of a length that is a power of two, without scaling.
class PowerOfTwoFft {
 public:
  explicit PowerOfTwoFft(int64_t length);
  void run(Complex* data) const;  // exponents of negative sign
  int64_t length() const { return length_; }

 private:
  int64_t length_;
  std::vector<Complex> roots_;     // exp(-2 pi i k / length) for the first half
  std::vector<int64_t> reversed_;  // index with its bits reversed
};

/// Forward or inverse (scaled by 1/length) transform of any positive length; the tables are built once. Lengths that
/// are no powers of two become a convolution (Bluestein, 1970).
class Fft {
 public:
  enum class Direction { forward, inverse };
  Fft(int64_t length, Direction direction);
  /// `scratch` is resized as needed; one for each thread.
  void run(Complex* data, std::vector<Complex>& scratch) const;
  int64_t length() const { return length_; }

 private:
  void run_forward(Complex* data, std::vector<Complex>& scratch) const;

  int64_t length_;
  Direction direction_;
  PowerOfTwoFft inner_;         // of `length` itself, or of the convolution
  std::vector<Complex> chirp_;  // empty for powers of two
  std::vector<Complex> filter_;
};

}  // namespace attune
