#include "ops/fft.h"

#include "base/memory.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <numbers>

namespace attune {
namespace {

Complex unit_root(double turns) {
  const double angle = 2 * std::numbers::pi * turns;
  return {std::cos(angle), std::sin(angle)};
}

bool is_power_of_two(int64_t length) { return std::has_single_bit(static_cast<uint64_t>(length)); }

/// The power of two that the transform of `length` runs on, refused when its tables do not fit.
int64_t inner_length(int64_t length) {
  const int64_t inner =
      is_power_of_two(length) ? length : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(length) * 2 - 1));
  check_memory(inner / 16 * 1024, [&] { return fmt::format("a Fourier transform of length {}", length); });
  return inner;
}

}  // namespace

PowerOfTwoFft::PowerOfTwoFft(int64_t length)
    : length_(length), roots_(static_cast<size_t>(length / 2)), reversed_(static_cast<size_t>(length), 0) {
  for (int64_t k = 0; k < length / 2; ++k)
    roots_[static_cast<size_t>(k)] = unit_root(-static_cast<double>(k) / static_cast<double>(length));
  for (size_t i = 1; i < reversed_.size(); ++i) reversed_[i] = reversed_[i / 2] / 2 + (i % 2 == 1 ? length / 2 : 0);
}

void PowerOfTwoFft::run(Complex* data) const {
  for (int64_t i = 0; i < length_; ++i) {
    const int64_t j = reversed_[static_cast<size_t>(i)];
    if (i < j) std::swap(data[i], data[j]);
  }
  for (int64_t half = 1; half < length_; half *= 2) {
    const int64_t root_step = length_ / (2 * half);
    for (int64_t start = 0; start < length_; start += 2 * half) {
      Complex* low = data + start;
      Complex* high = low + half;
      for (int64_t k = 0; k < half; ++k) {
        const Complex turned = high[k] * roots_[static_cast<size_t>(k * root_step)];
        high[k] = low[k] - turned;
        low[k] = low[k] + turned;
      }
    }
  }
}

Fft::Fft(int64_t length, Direction direction) : length_(length), direction_(direction), inner_(inner_length(length)) {
  if (is_power_of_two(length)) return;
  chirp_.resize(static_cast<size_t>(length));
  filter_.resize(static_cast<size_t>(inner_.length()));
  int64_t square = 0;  // k * k modulo 2 * length, kept small for the accuracy of the angle
  for (int64_t k = 0; k < length; ++k) {
    chirp_[static_cast<size_t>(k)] = unit_root(-static_cast<double>(square) / static_cast<double>(2 * length));
    square = (square + 2 * k + 1) % (2 * length);
  }
  for (int64_t k = 0; k < length; ++k) {
    const Complex value = conjugate(chirp_[static_cast<size_t>(k)]);
    filter_[static_cast<size_t>(k)] = value;
    if (k != 0) filter_[static_cast<size_t>(inner_.length() - k)] = value;
  }
  inner_.run(filter_.data());
}

void Fft::run_forward(Complex* data, std::vector<Complex>& scratch) const {
  if (chirp_.empty()) {
    inner_.run(data);
    return;
  }
  scratch.assign(static_cast<size_t>(inner_.length()), Complex{});
  for (size_t k = 0; k < chirp_.size(); ++k) scratch[k] = data[k] * chirp_[k];
  inner_.run(scratch.data());
  // The inverse transform of the product is the conjugate of the transform of its conjugate.
  for (size_t k = 0; k < scratch.size(); ++k) scratch[k] = conjugate(scratch[k] * filter_[k]);
  inner_.run(scratch.data());
  const double scale = 1.0 / static_cast<double>(inner_.length());
  for (size_t k = 0; k < chirp_.size(); ++k) {
    const Complex convolved{scratch[k].re * scale, -scratch[k].im * scale};
    data[k] = convolved * chirp_[k];
  }
}

void Fft::run(Complex* data, std::vector<Complex>& scratch) const {
  if (direction_ == Direction::forward) {
    run_forward(data, scratch);
    return;
  }
  for (int64_t k = 0; k < length_; ++k) data[k] = conjugate(data[k]);
  run_forward(data, scratch);
  const double scale = 1.0 / static_cast<double>(length_);
  for (int64_t k = 0; k < length_; ++k) data[k] = {data[k].re * scale, -data[k].im * scale};
}

}  // namespace attune
